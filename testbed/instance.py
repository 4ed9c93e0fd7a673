"""A control plane that runs: its API, its files, and its components, which a test may stop and start again."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from testbed import pki, processes
from testbed.processes import LOOPBACK, Component
from xlaunch.cluster.api import Api
from xlaunch.cluster.connect import TargetOptions, connect
from xlaunch.core.clock import Clock

ADMIN_GROUP = "system:masters"
# Generous: two cores that also run the tests of somebody else
READY_SECONDS = 120.0
# What components take of the environment: where programs are, and how Go's runtime weighs memory against time
INHERITED = ("PATH", "GOGC", "GOMEMLIMIT")


@dataclass(frozen=True)
class Command:
    """How to run one component, and how to find out that it is ready. `before`: a command that runs it."""

    name: str
    argv: Sequence[str | Path]
    ready: Callable[[], bool]
    env: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[str] = ()


class Instance:
    """One control plane on loopback; everything it writes is in `directory`, its logs as `<component>.log`.

    `kubeconfig` is an administrator's. `authority` signs the API server's certificate, and what else needs one that
    it trusts; `kubelet_client` is what the API server shows when it asks a node for logs.
    """

    def __init__(self, directory: Path, ports: Mapping[str, int], clock: Clock) -> None:
        self.directory = directory
        self.ports = ports
        self.url = f"https://{LOOPBACK}:{ports['kube-apiserver']}"
        self._clock = clock
        self._commands: dict[str, Command] = {}
        self._running: dict[str, Component] = {}
        self.pki = directory / "pki"
        self.pki.mkdir(mode=0o700)
        self.authority = pki.Authority(self.pki, "ca")
        self.server = self.authority.server("server")
        self.etcd_authority = pki.Authority(self.pki, "etcd-ca")
        self.etcd_client = self.etcd_authority.user("kube-apiserver-etcd-client")
        self.kubelet_client = self.authority.user("kube-apiserver-kubelet-client", [ADMIN_GROUP])
        self.tls = ssl.create_default_context(cafile=str(self.authority.certificate))
        self.kubeconfig = self.admin_of("default")

    @cached_property
    def api(self) -> Api:
        """The API server as the administrator."""
        return connect(TargetOptions(kubeconfig=str(self.kubeconfig)), {}).api

    def kubeconfig_of(self, user: str, groups: Sequence[str] = (), namespace: str = "default") -> Path:
        """A kubeconfig for a user of that name, whose rights are those that RBAC gives it and its groups."""
        pair = self.authority.user(user, groups)
        path = self.directory / f"{pair.certificate.stem}-{namespace}.kubeconfig"
        return pki.write_kubeconfig(path, self.url, self.authority.certificate, pair, namespace)

    def admin_of(self, namespace: str) -> Path:
        """An administrator's kubeconfig, with that namespace as its context's."""
        return self.kubeconfig_of("admin", [ADMIN_GROUP], namespace)

    def healthy(self, name: str, path: str) -> Callable[[], bool]:
        """A check of a component that serves TLS on the port of its name."""
        return partial(processes.answers, f"https://{LOOPBACK}:{self.ports[name]}{path}", self.tls)

    def start(self, *commands: Command) -> None:
        """Starts components and returns when all are ready. Raises StartError."""
        for command in commands:
            self._commands[command.name] = command
            self._running[command.name] = processes.start(
                command.name,
                command.argv,
                self.directory,
                env={**inherited(os.environ), "HOME": str(self.directory), **command.env},
                before=command.before,
            )
        for command in commands:
            self.wait(command.ready, "its start", command.name)

    def wait(self, check: Callable[[], bool], what: str, component: str) -> None:
        """Polls until `check` holds. Raises StartError with the log of that component when time is up."""
        others = [each for name, each in self._running.items() if name != component]
        end = self._clock.monotonic() + READY_SECONDS
        processes.wait_until(check, [*others, self._running[component]], what, self._clock, end)

    def processes(self) -> dict[str, int]:
        """The process of each component that runs."""
        return {name: each.process.pid for name, each in self._running.items()}

    def stop(self, name: str) -> None:
        """Kills a component. The rest goes on without it."""
        self._running.pop(name).stop()

    def restart(self, name: str) -> None:
        """Kills a component and starts it again, with an empty memory."""
        self.stop(name)
        self.resume(name)

    def resume(self, name: str) -> None:
        """Starts a component that was stopped; its log goes on."""
        self.start(self._commands[name])

    def close(self) -> None:
        """Ends all components. What they logged stays."""
        while self._running:
            self.stop(next(reversed(self._running)))


def inherited(env: Mapping[str, str]) -> dict[str, str]:
    """What a component has of its starter's environment."""
    return {"PATH": os.defpath, **{name: env[name] for name in INHERITED if name in env}}
