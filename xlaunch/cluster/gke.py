"""GKE clusters by name: found through google-cloud-container over REST, entered by Application Default Credentials."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from itertools import count
from typing import Any

from xlaunch.cluster.answers import gc_paused
from xlaunch.cluster.client import Login, new_configuration
from xlaunch.core.errors import NetworkError, NotFoundError, RefusedError, UsageError, XlaunchError

# What gke-gcloud-auth-plugin asks for: the second lets RBAC rules name a person by e-mail address
SCOPES = ("https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/userinfo.email")
# gcloud's own variable for another endpoint (private.googleapis.com, a test)
ENDPOINT_VARIABLE = "CLOUDSDK_API_ENDPOINT_OVERRIDES_CONTAINER"
TIMEOUT = 10.0
LOGIN = "gcloud auth application-default login"


@dataclass(frozen=True)
class GkeCluster:
    """A cluster that was found. `ca` is PEM, or "" where the endpoint has a publicly trusted certificate.

    `trust` is a file of authorities for Google's own certificates, or True for the usual ones.
    """

    name: str
    project: str
    location: str
    endpoint: str
    ca: str
    credentials: Any
    trust: str | bool


def find(name: str, *, project: str, location: str, env: Mapping[str, str]) -> GkeCluster:
    """The cluster of that name. `location` may be a zone, a region, or "" for anywhere in the project.

    NotFoundError where there is none, or several (they are named); RefusedError where Google says no; NetworkError
    where it does not answer, after 10 seconds for each address that it has.
    """
    with gc_paused():
        from google.cloud import container_v1

    for flag, value in (("--cluster", name), ("--project", project), ("--zone", location)):
        if value and not re.fullmatch(r"[a-z0-9.:-]+", value):
            raise UsageError(f"{flag} {value!r} is not a name", why="Google's names are lower-case letters, digits, -")
    credentials, default_project = _credentials()
    # requests, which google-auth uses, has variables of its own for this; kubectl, curl and Go know SSL_CERT_FILE
    trust = env.get("SSL_CERT_FILE") or True
    _refresh(credentials, trust)
    project = project or default_project or ""
    if not project:
        raise UsageError(f"No project is known for cluster {name}", next="Add --project ID")
    options = {"api_endpoint": env[ENDPOINT_VARIABLE].rstrip("/")} if env.get(ENDPOINT_VARIABLE) else {}
    with _refusals(project):
        client = container_v1.ClusterManagerClient(
            transport="rest", credentials=credentials, client_options=options or None
        )
        client.transport._session.verify = trust  # type: ignore[attr-defined]
        cluster = _cluster(client, name, project, location)
    endpoint, ca = _endpoint(cluster)
    return GkeCluster(cluster.name, project, cluster.location, endpoint, ca, credentials, trust)


def login(cluster: GkeCluster) -> Callable[[], Login]:
    """A login by an access token that lasts an hour: first by that which found the cluster, then by new ones."""
    logins = count()

    def renew() -> Login:
        if next(logins):
            _refresh(cluster.credentials, cluster.trust)
        configuration = new_configuration()
        configuration.host = f"https://{cluster.endpoint}"
        configuration.ca_cert_data = cluster.ca or None
        configuration.api_key["BearerToken"] = f"Bearer {cluster.credentials.token}"
        expiry = cluster.credentials.expiry
        return Login(configuration, expiry.replace(tzinfo=UTC) if expiry else None)

    return renew


def _refresh(credentials: Any, trust: str | bool) -> None:
    """A new access token; google-auth itself would wait two minutes for an answer."""
    from google.auth.exceptions import GoogleAuthError
    from google.auth.transport.requests import Request
    from requests import Session

    session = Session()
    session.verify = trust
    try:
        credentials.refresh(partial(Request(session), timeout=TIMEOUT))
    except GoogleAuthError as error:
        raise XlaunchError(
            "Google gave no access token", why=_one_line(error), next=LOGIN, reason="Credentials"
        ) from error


def _credentials() -> tuple[Any, str | None]:
    import google.auth
    from google.auth.exceptions import DefaultCredentialsError

    try:
        credentials, project = google.auth.default(scopes=SCOPES)
    except DefaultCredentialsError as error:
        raise XlaunchError(
            "There are no Google credentials on this machine", why=_one_line(error), next=LOGIN, reason="Credentials"
        ) from error
    return credentials, project


def _cluster(client: Any, name: str, project: str, location: str) -> Any:
    """One request where the location is right; else the whole project is searched."""
    from google.api_core.exceptions import NotFound

    for place in _places(location):
        try:
            return client.get_cluster(
                name=f"projects/{project}/locations/{place}/clusters/{name}", retry=None, timeout=TIMEOUT
            )
        except NotFound:
            continue
    answer = client.list_clusters(parent=f"projects/{project}/locations/-", retry=None, timeout=TIMEOUT)
    named = [cluster for cluster in answer.clusters if cluster.name == name]
    here = [cluster for cluster in named if not location or cluster.location.startswith(f"{location}-")]
    if len(here) == 1:
        return here[0]
    unseen = f"; GKE could not look into {', '.join(answer.missing_zones)}" if answer.missing_zones else ""
    places = ", ".join(sorted(cluster.location for cluster in here or named))
    if here:
        raise NotFoundError(
            f"Project {project} has several clusters {name}",
            why=f"They are in {places}",
            next="Add --zone",
            reason="Ambiguous",
        )
    if named:
        raise NotFoundError(f"There is no cluster {name} in {location}", why=f"One is in {places}", next="Fix --zone")
    raise NotFoundError(
        f"Project {project} has no cluster {name}", why=_names(answer.clusters) + unseen, next="Check --project"
    )


def _places(location: str) -> Sequence[str]:
    """A location and, for a zone, the region around it: xpk's --zone names a regional cluster by one of its zones."""
    zone = re.fullmatch(r"(.+\d)-[a-z]", location)
    return [location, zone[1]] if zone else [location] if location else []


def _names(clusters: Sequence[Any]) -> str:
    names = sorted(cluster.name for cluster in clusters)
    return f"It has {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}" if names else "It has none"


def _endpoint(cluster: Any) -> tuple[str, str]:
    """The DNS endpoint where the cluster lets the outside in through it, else its IP address with its own CA.

    The DNS endpoint is reached from anywhere IAM allows; an IP address only from the authorised networks
    (https://cloud.google.com/kubernetes-engine/docs/concepts/network-isolation#dns-based_endpoint).
    """
    dns = cluster.control_plane_endpoints_config.dns_endpoint_config
    if dns.endpoint and dns.allow_external_traffic:
        return dns.endpoint, ""
    if not cluster.endpoint:
        raise RefusedError(
            f"Cluster {cluster.name} has no endpoint",
            why=f"Its status is {cluster.status.name}",
            next="Wait until it is RUNNING",
        )
    return cluster.endpoint, base64.b64decode(cluster.master_auth.cluster_ca_certificate).decode()


@contextmanager
def _refusals(project: str) -> Iterator[None]:
    from google.api_core.exceptions import Forbidden, GoogleAPICallError, NotFound
    from google.auth.exceptions import GoogleAuthError
    from requests.exceptions import RequestException

    try:
        yield
    except NotFound as error:
        raise NotFoundError(f"There is no project {project}", why=_said(error), next="Check --project") from error
    except Forbidden as error:
        raise RefusedError(
            f"Google does not let you see the clusters of {project}",
            why=_said(error),
            next="Ask for the role roles/container.clusterViewer",
        ) from error
    except GoogleAuthError as error:
        raise XlaunchError("Google's login failed", why=_one_line(error), next=LOGIN, reason="Credentials") from error
    except (GoogleAPICallError, RequestException) as error:
        raise NetworkError(
            "The GKE API did not answer", why=_said(error), next="Check the network, or use --context"
        ) from error


def _said(error: Exception) -> str:
    """Google's sentence without the code and the URL that the client library puts before it."""
    return re.sub(r"^(\d{3} )?(GET|POST) \S+: ", "", _one_line(error))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
