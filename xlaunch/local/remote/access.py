"""Where a real API server is and how to log in there, from one kubeconfig.

The node agent is one process that runs for days, so that it needs the long-lived kinds of login only: a client
certificate, a token, or a file with a token that somebody renews.
"""

from __future__ import annotations

import base64
import binascii
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlaunch.core.errors import UsageError

# What a kubeconfig's user may hold that needs a program, a browser or a password
NOT_TAKEN = ("exec", "auth-provider", "username", "password", "as")


@dataclass(frozen=True)
class Access:
    """One API server and one login. Certificates and keys are PEM; `authority` is b"" for the system's own."""

    server: str
    authority: bytes = b""
    insecure: bool = False
    certificate: bytes = b""
    key: bytes = b""
    token: str = ""
    token_file: Path | None = None

    def headers(self) -> dict[str, str]:
        """What each request carries; the token's file is read anew, since tokens expire and are replaced there."""
        token = self.token_file.read_text(encoding="utf-8").strip() if self.token_file else self.token
        return {"Authorization": f"Bearer {token}"} if token else {}

    def tls(self) -> ssl.SSLContext:
        """Trust and identity for the connection."""
        context = ssl.create_default_context(cadata=self.authority.decode() or None)
        if self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.certificate:
            # Python's ssl reads them from a file only
            with tempfile.NamedTemporaryFile() as file:
                file.write(self.certificate + b"\n" + self.key)
                file.flush()
                context.load_cert_chain(file.name)
        return context


def load(path: Path, context: str = "") -> Access:
    """The server and the login of a context, or of the current one. UsageError for what cannot be read or used."""
    import yaml

    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"The kubeconfig {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"The kubeconfig {path} is no YAML") from error
    if not isinstance(config, Mapping):
        raise UsageError(f"The kubeconfig {path} holds no object")
    chosen = _entry(config, "contexts", context or config.get("current-context") or "", "context", path)
    cluster = _entry(config, "clusters", chosen.get("cluster", ""), "cluster", path)
    user = _entry(config, "users", chosen.get("user", ""), "user", path)
    if unusable := [each for each in NOT_TAKEN if user.get(each)]:
        raise UsageError(
            f"The node agent cannot log in by {unusable[0]}",
            why=f"The kubeconfig {path} asks for it, and the agent takes a client certificate or a token only",
            next="kubectl create token NAME, and a kubeconfig with that token",
        )
    if not cluster.get("server"):
        raise UsageError(f"The kubeconfig {path} names no server")
    return Access(
        server=str(cluster["server"]).rstrip("/"),
        authority=_pem(cluster, "certificate-authority", path),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        certificate=_pem(user, "client-certificate", path),
        key=_pem(user, "client-key", path),
        token=user.get("token") or "",
        token_file=path.parent / user["tokenFile"] if user.get("tokenFile") else None,
    )


def _entry(config: Mapping[str, Any], section: str, name: str, kind: str, path: Path) -> Mapping[str, Any]:
    for each in config.get(section) or ():
        if each.get("name") == name:
            found: Mapping[str, Any] = each.get(kind) or {}
            return found
    raise UsageError(f"The kubeconfig {path} has no {kind} {name!r}")


def _pem(entry: Mapping[str, Any], field: str, path: Path) -> bytes:
    """A certificate or key, given in the file or as a path beside it; the data wins, as in client-go."""
    try:
        if data := entry.get(f"{field}-data"):
            return base64.b64decode(data, validate=True)
        return (path.parent / entry[field]).read_bytes() if entry.get(field) else b""
    except binascii.Error as error:
        raise UsageError(f"{field}-data in the kubeconfig {path} is no base64") from error
    except OSError as error:
        raise UsageError(f"The {field} of the kubeconfig {path} cannot be read: {error.strerror}") from error
