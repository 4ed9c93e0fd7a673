"""The entries of a kubeconfig: whether they hold what client-go takes, so that the rest may rely on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# Of clusters, users and contexts together: k8s.io/client-go v0.36 tools/clientcmd/api/v1/types.go
_TEXTS = (
    *("server", "certificate-authority", "certificate-authority-data", "tls-server-name", "proxy-url"),
    *("client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile"),
    *("username", "password", "as", "as-uid", "cluster", "user", "namespace"),
)


def problems(section: str, entry: Any) -> Iterator[str]:
    """What is wrong with an entry of a section, without its values: they may be secret."""
    kind = section.removesuffix("s")
    body = (entry.get(kind) or {}) if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(body, Mapping):
        yield f"An entry of {section} is not a mapping"
        return
    if not isinstance(entry.get("name", ""), str):
        yield f"The name of an entry of {section} is not text"
    for key in _TEXTS:
        if not isinstance(body.get(key) or "", str):
            yield f"{key} of {kind} {entry.get('name')} is not text; a number stands in quotes"
    if section == "users" and body.get("exec") is not None and not _is_plugin(body["exec"]):
        yield f"exec of user {entry.get('name')} is not a command with a list of args and of env, all of them text"


def _is_plugin(plugin: Any) -> bool:
    if not isinstance(plugin, Mapping) or not isinstance(plugin.get("command"), str) or not plugin["command"]:
        return False
    args, env = plugin.get("args") or [], plugin.get("env") or []
    return (
        isinstance(args, list)
        and all(isinstance(word, str) for word in args)
        and isinstance(env, list)
        and all(
            isinstance(each, Mapping) and all(isinstance(each.get(key), str) for key in ("name", "value"))
            for each in env
        )
    )
