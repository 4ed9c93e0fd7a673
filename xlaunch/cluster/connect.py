"""From what a user said about the target to one API server: kubeconfig, pod, local cluster or GKE name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from xlaunch.cluster import kubeconfig
from xlaunch.cluster.api import Api
from xlaunch.cluster.client import Login, new_configuration
from xlaunch.cluster.kubeapi import KubeApi
from xlaunch.core.errors import NotFoundError, UsageError, XlaunchError
from xlaunch.core.names import DNS_LABEL, is_dns1123_label

POD_CREDENTIALS = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True)
class TargetOptions:
    """What a user may say about where to go; "" is what was not said."""

    cluster: str = ""
    project: str = ""
    location: str = ""
    context: str = ""
    kubeconfig: str = ""
    namespace: str = ""

    @property
    def local(self) -> str:
        """The name of the local cluster that `--cluster=local[:NAME]` means, "" for any other target."""
        kind, _, name = self.cluster.partition(":")
        return (name or "local") if kind == "local" else ""

    def flags(self) -> tuple[str, ...]:
        """The words that lead to the same target again."""
        pairs = (
            ("--cluster", self.cluster),
            ("--project", self.project if not self.local else ""),
            ("--zone", self.location if not self.local else ""),
            ("--context", self.context),
            ("--kubeconfig", self.kubeconfig),
            ("--namespace", self.namespace),
        )
        return tuple(f"{flag}={value}" for flag, value in pairs if value)


@dataclass(frozen=True)
class Connection:
    """An API server, the words that say where it leads, and the flags that lead there again.

    `where` stands in sentences ("cluster my-gke (europe-west4)"); `flags` holds only what the user gave, to be put
    into the commands that are proposed next.
    """

    api: Api
    where: str
    flags: tuple[str, ...] = ()


def connect(options: TargetOptions, env: Mapping[str, str]) -> Connection:
    """Opens the target; no request is sent to its API server yet.

    Never falls through from a named target to another one. UsageError for flags that contradict each other,
    NotFoundError where the name leads nowhere.
    """
    check(options)
    connection = _opened(options, env)
    if not is_dns1123_label(connection.api.namespace):
        # It becomes a part of paths, where ".." would mean all namespaces
        raise UsageError(
            f"{connection.api.namespace!r} can't be the name of a namespace", why=DNS_LABEL, next="Correct --namespace"
        )
    return connection


def _opened(options: TargetOptions, env: Mapping[str, str]) -> Connection:
    if options.local:
        return _local(options, env)
    if options.cluster:
        return _gke(options, env)
    chosen = options.context or options.kubeconfig or env.get("KUBECONFIG")
    if not chosen and env.get("KUBERNETES_SERVICE_HOST") and (POD_CREDENTIALS / "token").is_file():
        return _pod(options, env)
    return _kubeconfig(options, env)


def check(options: TargetOptions) -> None:
    """Raises UsageError for flags that contradict each other."""
    if options.cluster and (options.context or options.kubeconfig):
        other = "--context" if options.context else "--kubeconfig"
        raise UsageError(f"--cluster and {other} contradict each other", next="Give one of them")
    if not options.cluster and (options.project or options.location):
        given = "--project" if options.project else "--zone"
        raise UsageError(f"{given} alone does not name a cluster", next="Add --cluster NAME")


def _kubeconfig(options: TargetOptions, env: Mapping[str, str]) -> Connection:
    paths = kubeconfig.files(env, options.kubeconfig)
    if not paths:
        raise NotFoundError(
            "No cluster is named, and there is no kubeconfig",
            next="Add --cluster=local (a rehearsal on this machine), or --cluster NAME --project PROJECT for GKE",
        )
    config = kubeconfig.load(paths)
    name, context = config.context(options.context)
    api = KubeApi(
        kubeconfig.login(config, name),
        namespace=options.namespace or context.get("namespace") or "default",
        alternatives=_alternatives(env, options.kubeconfig, name),
    )
    return Connection(api, f"context {name}", options.flags())


def _local(options: TargetOptions, env: Mapping[str, str]) -> Connection:
    from xlaunch.local.lifecycle import find

    cluster = find(options.local, env)
    config = kubeconfig.load([Path(cluster.kubeconfig)])
    name, context = config.context()

    def next_step() -> str:
        """A server of this machine that does not answer will come back if it still runs, else never."""
        with suppress(NotFoundError):
            if find(options.local, env).id == cluster.id:
                return "xlaunch local status"
        raise NotFoundError(
            f"The {cluster.title} has ended, with all that ran there",
            next="xlaunch local status",
            reason="ClusterNotFound",
        )

    api = KubeApi(
        kubeconfig.login(config, name),
        namespace=options.namespace or context.get("namespace") or "default",
        alternatives=next_step,
    )
    return Connection(api, cluster.title, options.flags())


def _gke(options: TargetOptions, env: Mapping[str, str]) -> Connection:
    from xlaunch.cluster import gke

    cluster = gke.find(options.cluster, project=options.project, location=options.location, env=env)
    api = KubeApi(gke.login(cluster), namespace=options.namespace or "default", alternatives=_alternatives(env, "", ""))
    return Connection(api, f"cluster {cluster.name} ({cluster.location})", options.flags())


def _pod(options: TargetOptions, env: Mapping[str, str]) -> Connection:
    api = KubeApi(lambda: _pod_login(env, POD_CREDENTIALS), namespace=options.namespace or _pod_namespace())
    return Connection(api, "the cluster of this pod", options.flags())


def _pod_login(env: Mapping[str, str], directory: Path) -> Login:
    """A pod's own service account; the official loader reads its token again every minute."""
    configuration = new_configuration()
    from kubernetes.config import ConfigException
    from kubernetes.config.incluster_config import InClusterConfigLoader

    try:
        InClusterConfigLoader(  # type: ignore[no-untyped-call]
            token_filename=str(directory / "token"), cert_filename=str(directory / "ca.crt"), environ=env
        ).load_and_set(configuration)
    except ConfigException as error:
        raise XlaunchError("The pod's own credentials cannot be used", why=str(error), next="Add --context") from error
    return Login(configuration)


def _pod_namespace() -> str:
    try:
        return (POD_CREDENTIALS / "namespace").read_text(encoding="utf-8").strip()
    except OSError:
        return "default"


def _alternatives(env: Mapping[str, str], given: str, used: str) -> Callable[[], str]:
    """The next step when a server does not answer: the other contexts and the embedded cluster."""

    def tell() -> str:
        others = sorted(set(kubeconfig.load(kubeconfig.files(env, given)).contexts) - {used})
        named = [f"--context {name}" for name in others[:4]]
        return f"Check network and VPN, or go elsewhere: {', '.join([*named, '--cluster=local'])}"

    return tell
