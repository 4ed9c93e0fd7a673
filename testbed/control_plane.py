"""Which control plane to start, and how: etcd, Kubernetes, and JobSet, Kueue and kwok on request."""

from __future__ import annotations

import os
import shutil
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from testbed import jobset, kueue, kwok, pki
from testbed.build import Build, build
from testbed.instance import Command, Instance
from testbed.processes import LOOPBACK, answers, free_ports
from testbed.upstreams import Upstream, find, versions
from xlaunch.cluster.api import Api, ApiError
from xlaunch.core.clock import Clock, SystemClock

PORTS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


@dataclass(frozen=True)
class ControlPlane:
    """What runs: versions as in `testbed.upstreams`. No JobSet where `jobset` is "".

    `gates` are JobSet's feature gates; `kueue_configuration` is merged into Kueue's. `arguments` are more flags by
    component (`{"kube-controller-manager": ("--kube-api-qps=1000",)}`), which win over ours: Kubernetes' gates too.
    """

    kubernetes: str = versions("kubernetes")[0]
    jobset: str = versions("jobset")[0]
    gates: Mapping[str, bool] = field(default_factory=dict, hash=False)
    kueue: bool = False
    kueue_configuration: Mapping[str, object] = field(default_factory=dict, hash=False)
    kwok: bool = False
    arguments: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """What tells it from others in a list of tests: versions, and the gates that are on."""
        gates = [name for name, on in self.gates.items() if on]
        return "+".join([*(each.label for each in self.upstreams().values() if each.name != "etcd"), *gates])

    def upstreams(self) -> dict[str, Upstream]:
        """What must be built for it, by name. LookupError for a version that the test bed does not have."""
        wanted = {"etcd": "", "kubernetes": self.kubernetes}
        wanted |= {"jobset": self.jobset} if self.jobset else {}
        wanted |= {name: "" for name, on in (("kueue", self.kueue), ("kwok", self.kwok)) if on}
        return {name: find(name, version) for name, version in wanted.items()}

    @contextmanager
    def running(
        self,
        directory: Path,
        *,
        binaries: Path | None = None,
        env: Mapping[str, str] = os.environ,
        clock: Clock | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> Iterator[Instance]:
        """Builds what is missing, starts everything in an empty `directory` and ends it with the context.

        With `binaries`, a directory as `testbed.binaries` describes it, that is what runs, whatever its versions.
        Raises BuildError or StartError. The calling thread must live as long as the context.
        """
        builds = {
            name: Build(binaries) if binaries else build(each, env, say=say) for name, each in self.upstreams().items()
        }
        names = [*PORTS, *jobset.PORTS, *kueue.PORTS, *kwok.PORTS]
        instance = Instance(directory, dict(zip(names, free_ports(len(names)), strict=True)), clock or SystemClock())
        try:
            self._start(instance, builds)
            yield instance
        finally:
            instance.close()
            # 64 MiB and more, and nobody reads it
            shutil.rmtree(directory / "etcd", ignore_errors=True)

    def _start(self, instance: Instance, builds: Mapping[str, Build]) -> None:
        kubernetes = builds["kubernetes"]
        self._run(instance, etcd(instance, builds["etcd"]), api_server(instance, kubernetes))
        # CRDs come first: a garbage collector that meets a new kind while it runs is blind for about 20 s
        if self.jobset:
            jobset.install(instance, builds["jobset"])
        if self.kueue:
            kueue.install(instance, builds["kueue"])
        controllers = [controller_manager(instance, kubernetes), scheduler(instance, kubernetes)]
        if self.jobset:
            controllers.append(jobset.command(instance, builds["jobset"], self.gates))
        if self.kueue:
            controllers.append(kueue.command(instance, builds["kueue"], self.kueue_configuration))
        if self.kwok:
            controllers.append(kwok.command(instance, builds["kwok"]))
        self._run(instance, *controllers)
        if self.jobset:
            jobset.admit(instance, builds["jobset"])
        if self.kueue:
            kueue.admit(instance, builds["kueue"])
        ready = partial(has_service_account, instance.api)
        instance.wait(ready, "the first service account", "kube-controller-manager")

    def _run(self, instance: Instance, *commands: Command) -> None:
        """Starts components with the arguments that were asked for."""
        more = self.arguments
        instance.start(*(replace(each, argv=[*each.argv, *more.get(each.name, ())]) for each in commands))


def etcd(instance: Instance, build: Build) -> Command:
    """One etcd that never syncs to disk: nothing here outlives its process.

    Who may write to it rules the cluster, and with a node agent runs programs as this user: it wants a certificate.
    """
    client, peer = (f"https://{LOOPBACK}:{instance.ports[name]}" for name in ("etcd", "etcd-peer"))
    server, trusted = instance.etcd_authority.server("etcd-server"), instance.etcd_authority.certificate
    tls = ssl.create_default_context(cafile=str(trusted))
    tls.load_cert_chain(instance.etcd_client.certificate, instance.etcd_client.key)
    argv: list[str | Path] = [
        build.binary("etcd"),
        f"--data-dir={instance.directory / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=4294967296",
        # It would be its own client, with a certificate that is only for servers
        "--enable-grpc-gateway=false",
        *(f"--{side}client-cert-auth" for side in ("", "peer-")),
        *(f"--{side}trusted-ca-file={trusted}" for side in ("", "peer-")),
        *(f"--{side}cert-file={server.certificate}" for side in ("", "peer-")),
        *(f"--{side}key-file={server.key}" for side in ("", "peer-")),
    ]
    return Command("etcd", argv, partial(answers, f"{client}/health", tls))


def api_server(instance: Instance, build: Build) -> Command:
    """The API server with RBAC, service account tokens, client certificates and the aggregation layer."""
    accounts = pki.service_account_keys(instance.pki)
    proxy_authority = pki.Authority(instance.pki, "front-proxy-ca")
    proxy = proxy_authority.user("front-proxy-client")
    argv: list[str | Path] = [
        build.binary("kube-apiserver"),
        f"--etcd-servers=https://{LOOPBACK}:{instance.ports['etcd']}",
        f"--etcd-cafile={instance.etcd_authority.certificate}",
        f"--etcd-certfile={instance.etcd_client.certificate}",
        f"--etcd-keyfile={instance.etcd_client.key}",
        f"--secure-port={instance.ports['kube-apiserver']}",
        f"--bind-address={LOOPBACK}",
        # Kubernetes 1.37 refuses to advertise loopback unless nobody reconciles endpoints
        f"--advertise-address={LOOPBACK}",
        "--endpoint-reconciler-type=none",
        f"--tls-cert-file={instance.server.certificate}",
        f"--tls-private-key-file={instance.server.key}",
        f"--cert-dir={instance.pki}",
        f"--client-ca-file={instance.authority.certificate}",
        f"--kubelet-client-certificate={instance.kubelet_client.certificate}",
        f"--kubelet-client-key={instance.kubelet_client.key}",
        "--kubelet-preferred-address-types=InternalIP",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={accounts.key}",
        f"--service-account-key-file={accounts.certificate}",
        f"--requestheader-client-ca-file={proxy_authority.certificate}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={proxy.certificate}",
        f"--proxy-client-key-file={proxy.key}",
    ]
    return Command("kube-apiserver", argv, instance.healthy("kube-apiserver", "/readyz"))


def controller_manager(instance: Instance, build: Build) -> Command:
    """The controller manager; from -v=4 on its log has the back-off of every Job."""
    return Command(
        "kube-controller-manager",
        [
            *_controller(instance, build, "kube-controller-manager"),
            f"--service-account-private-key-file={instance.pki / 'service-accounts.key'}",
            f"--root-ca-file={instance.authority.certificate}",
            "--use-service-account-credentials=true",
            "-v=4",
        ],
        instance.healthy("kube-controller-manager", "/healthz"),
    )


def scheduler(instance: Instance, build: Build) -> Command:
    """The scheduler."""
    argv = _controller(instance, build, "kube-scheduler")
    return Command("kube-scheduler", argv, instance.healthy("kube-scheduler", "/healthz"))


def _controller(instance: Instance, build: Build, name: str) -> list[str | Path]:
    """The flags that both have, with the identity that kubeadm gives them."""
    kubeconfig = instance.kubeconfig_of(f"system:{name}")
    return [
        build.binary(name),
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={instance.ports[name]}",
        f"--tls-cert-file={instance.server.certificate}",
        f"--tls-private-key-file={instance.server.key}",
        "--leader-elect=false",
    ]


def has_service_account(api: Api, namespace: str = "default") -> bool:
    """Whether pods can be made in a namespace: before it has a service account the API server refuses them."""
    try:
        api.request("GET", f"/api/v1/namespaces/{namespace}/serviceaccounts/default")
    except ApiError:
        return False
    return True
