"""GKE clusters by name, against a fake of Google's API and a TLS server that stands for the cluster."""

import pytest
from fakes.gke import FakeGoogle, at
from fakes.server import Answer, Server, proxy

from xlaunch.cluster import gke
from xlaunch.cluster.connect import TargetOptions, connect
from xlaunch.core.errors import NetworkError, NotFoundError, RefusedError, UsageError, XlaunchError

IP = {"endpoint": "10.0.0.1", "masterAuth": {"clusterCaCertificate": ""}}
EUROPE = ("europe-west4", "my-gke", IP)
ZONAL = ("us-central2-b", "my-gke", IP)


@pytest.fixture
def google(tmp_path, monkeypatch):
    """Starts a fake Google with these clusters, and leads the credentials of this process to it."""
    opened = []

    def start(*clusters, **options):
        fake = FakeGoogle(tmp_path, clusters, **options)
        opened.append(fake.__enter__())
        for name, value in fake.env.items():
            monkeypatch.setenv(name, value)
        return fake

    yield start
    for each in opened:
        each.__exit__()


def find(google, name="my-gke", project="p", location=""):
    return gke.find(name, project=project, location=location, env=google.env)


def asked(google):
    return [request.path for request in google.requests if request.path != "/token"]


def test_a_request_to_the_cluster_carries_googles_token(google, authority):
    with Server(lambda request: request.headers["authorization"], tls=authority.server("127.0.0.1")) as server:
        fake = google(("europe-west4", "my-gke", at(server, authority.ca)))
        options = TargetOptions(cluster="my-gke", project="p", namespace="team")
        connection = connect(options, fake.env)
        assert connection.api.request("GET", "/version").body == "Bearer google-1"
    assert connection.where == "cluster my-gke (europe-west4)"
    assert connection.api.namespace == "team"
    assert connection.flags == ("--cluster=my-gke", "--project=p", "--namespace=team")


def test_an_expired_token_is_renewed(google, authority):
    def answer(request):
        token = request.headers["authorization"]
        return Answer(401, {}) if token == "Bearer google-1" else token

    with Server(answer, tls=authority.server("127.0.0.1")) as server:
        fake = google(("europe-west4", "my-gke", at(server, authority.ca)))
        connection = connect(TargetOptions(cluster="my-gke", project="p"), fake.env)
        assert connection.api.request("GET", "/x").body == "Bearer google-2"


def test_the_dns_endpoint_needs_no_authority_of_its_own(google):
    endpoints = {"dnsEndpointConfig": {"endpoint": "gke-1.europe-west4.gke.goog", "allowExternalTraffic": True}}
    found = find(google(("europe-west4", "my-gke", {**IP, "controlPlaneEndpointsConfig": endpoints})))
    assert (found.endpoint, found.ca) == ("gke-1.europe-west4.gke.goog", "")


def test_a_dns_endpoint_that_is_closed_to_the_outside_is_left_alone(google):
    endpoints = {"dnsEndpointConfig": {"endpoint": "gke-1.europe-west4.gke.goog", "allowExternalTraffic": False}}
    assert (
        find(google(("europe-west4", "my-gke", {**IP, "controlPlaneEndpointsConfig": endpoints}))).endpoint
        == "10.0.0.1"
    )


@pytest.mark.parametrize(
    ("cluster", "location", "requests"),
    [
        (EUROPE, "", ["/v1/projects/p/locations/-/clusters"]),
        (EUROPE, "europe-west4", ["/v1/projects/p/locations/europe-west4/clusters/my-gke"]),
        (
            EUROPE,
            "europe-west4-a",
            [
                "/v1/projects/p/locations/europe-west4-a/clusters/my-gke",
                "/v1/projects/p/locations/europe-west4/clusters/my-gke",
            ],
        ),
        (ZONAL, "us-central2-b", ["/v1/projects/p/locations/us-central2-b/clusters/my-gke"]),
        (
            ZONAL,
            "us-central2",
            ["/v1/projects/p/locations/us-central2/clusters/my-gke", "/v1/projects/p/locations/-/clusters"],
        ),
    ],
)
def test_a_location_is_a_region_a_zone_or_unknown(google, cluster, location, requests):
    fake = google(cluster)
    assert find(fake, location=location).location == cluster[0]
    assert asked(fake) == requests


def test_several_are_named(google):
    with pytest.raises(NotFoundError) as caught:
        find(google(EUROPE, ZONAL))
    assert caught.value.reason == "Ambiguous"
    assert caught.value.why == "They are in europe-west4, us-central2-b"
    assert find(google(EUROPE, ZONAL), location="us-central2").location == "us-central2-b"


def test_the_right_name_in_another_place(google):
    with pytest.raises(NotFoundError) as caught:
        find(google(EUROPE), location="us-east1")
    assert (caught.value.code, caught.value.why) == (3, "One is in europe-west4")


def test_no_such_name(google):
    with pytest.raises(NotFoundError) as caught:
        find(google(EUROPE, missing_zones=["us-east1"]), name="other")
    assert caught.value.why == "It has my-gke; GKE could not look into us-east1"


def test_a_cluster_that_is_being_made(google):
    with pytest.raises(RefusedError, match="no endpoint") as caught:
        find(google(("europe-west4", "my-gke", {"status": "PROVISIONING"})))
    assert caught.value.why == "Its status is PROVISIONING"


def test_the_project_comes_from_the_credentials(google):
    assert find(google(EUROPE), project="").project == "from-credentials"


def test_no_such_project(google):
    with pytest.raises(NotFoundError, match="no project nothing"):
        find(google(EUROPE), project="nothing")


def test_google_says_no(google):
    with pytest.raises(RefusedError) as caught:
        find(google(EUROPE, fail=403))
    assert (caught.value.code, caught.value.why) == (4, "the caller does not have permission")


def test_google_is_broken(google):
    with pytest.raises(NetworkError, match="did not answer"):
        find(google(EUROPE, fail=503))


def test_google_is_not_there(google, tmp_path):
    fake = google(EUROPE)
    env = {**fake.env, gke.ENDPOINT_VARIABLE: "http://127.0.0.1:1"}
    with pytest.raises(NetworkError, match="did not answer"):
        gke.find("my-gke", project="p", location="", env=env)


def test_ssl_cert_file_counts_for_google_too(google, authority):
    """Behind a proxy that opens TLS, kubectl and curl need this variable alone."""
    fake = google(EUROPE, tls=authority.server("127.0.0.1"))
    env = {**fake.env, "SSL_CERT_FILE": authority.ca}
    assert gke.find("my-gke", project="p", location="", env=env).endpoint == "10.0.0.1"
    with pytest.raises(XlaunchError):
        gke.find("my-gke", project="p", location="", env=fake.env)


def test_https_proxy_counts_for_google_too(google, authority, monkeypatch):
    fake = google(EUROPE, tls=authority.server("127.0.0.1"))
    env = {**fake.env, "SSL_CERT_FILE": authority.ca}
    with proxy() as (url, targets):
        monkeypatch.setenv("HTTPS_PROXY", url)
        assert gke.find("my-gke", project="p", location="", env=env).name == "my-gke"
        assert set(targets) == {f"127.0.0.1:{fake.port}"}
        targets.clear()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert gke.find("my-gke", project="p", location="", env=env).name == "my-gke"
        assert targets == []


def test_no_credentials_stop_it_and_say_how_to_get_some(tmp_path, monkeypatch):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(XlaunchError, match="no Google credentials") as caught:
        gke.find("my-gke", project="p", location="", env={})
    assert caught.value.next == "gcloud auth application-default login"


def test_credentials_that_are_no_good_never_lead_elsewhere(google, authority, tmp_path):
    fake = google(EUROPE)
    fake.answer = lambda request: (
        fake.reply(request) if request.path != "/token" else Answer(400, {"error": "invalid_grant"})
    )
    with pytest.raises(XlaunchError, match="no access token") as caught:
        connect(TargetOptions(cluster="my-gke", project="p"), {**fake.env, "KUBECONFIG": str(tmp_path / "any")})
    assert caught.value.code == 1


@pytest.mark.parametrize("flag", ["name", "project", "location"])
@pytest.mark.parametrize("value", ["a/b", "../x", "A", "a b", "a?x=1"])
def test_what_is_no_name_reaches_no_url(google, flag, value):
    fake = google(EUROPE)
    with pytest.raises(UsageError):
        find(fake, **{flag: value})
    assert asked(fake) == []
