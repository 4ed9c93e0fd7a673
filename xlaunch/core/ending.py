"""How a container ended, in a sentence: its exit code, the kubelet's or its own last message, who ended its pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xlaunch.core import pods as podlib
from xlaunch.core.conditions import condition
from xlaunch.core.excerpt import excerpt, reason_and_message
from xlaunch.core.pods import Container, Exit

Object = Mapping[str, Any]


def ending(name: str, exit: Exit | None) -> str:  # noqa: A002
    """ "main ended with exit code 137 (OOMKilled, SIGKILL)", and the message; "" where it did not end."""
    if exit is None:
        return ""
    reason = exit.reason if exit.reason not in ("Error", "Completed") else ""
    details = ", ".join(filter(None, (reason, exit.signal)))
    told = f"{name} ended with exit code {exit.code}" + (f" ({details})" if details else "")
    return f"{told}: {excerpt(exit.message)}" if exit.message else told


def ending_of(pods: Iterable[Object], name: str) -> str:
    """How the container of that name ended last in the newest of the pods; "" where nothing is known of that."""
    pod = podlib.newest(pods)
    found = podlib.container(pod, name) if pod else None
    return ending(name, found.exit or found.last_exit) if found else ""


def disruption(pod: Object) -> str:
    """Who ends a pod, as its condition DisruptionTarget says; "" for nobody.

    "EvictionByEvictionAPI: Eviction API: evicting". The scheduler, the Eviction API, the taint manager, PodGC and the
    kubelet set it before they end one (Kubernetes 1.31 on, KEP-3329); `kubectl delete` does not.
    """
    said = condition(pod.get("status") or {}, "DisruptionTarget")
    return reason_and_message(said) if said.get("status") == "True" else ""


def fate(pod: Object, name: str) -> str:
    """How the container of that name ended, and who ended its pod; "" while it runs and nobody does."""
    found = podlib.container(pod, name)
    return "; ".join(filter(None, (ending(name, found.exit) if found else "", disruption(pod))))


def messages(containers: Iterable[Container]) -> list[str]:
    """The endings that have a message, which the exit code alone does not tell."""
    ends = ((each.name, each.exit or each.last_exit) for each in containers)
    return [ending(name, end) for name, end in ends if end and end.message]
