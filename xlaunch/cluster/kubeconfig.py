"""Kubeconfig files: merged as kubectl merges them, read and never written, turned into a login."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from xlaunch.cluster import kubeconfig_entry
from xlaunch.cluster.client import Login, new_configuration
from xlaunch.core.errors import NotFoundError, UsageError, XlaunchError

DEFAULT_FILE = "~/.kube/config"
SECTIONS = ("clusters", "contexts", "users")
# Keys that name a file, relative to the kubeconfig they stand in
PLUGIN_GIVES = ("token", "clientCertificateData", "clientKeyData", "expirationTimestamp")
FILE_KEYS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


@dataclass(frozen=True)
class Kubeconfig:
    """Merged kubeconfig files: entries by name, file names absolute."""

    clusters: Mapping[str, Mapping[str, Any]]
    contexts: Mapping[str, Mapping[str, Any]]
    users: Mapping[str, Mapping[str, Any]]
    current: str

    def context(self, name: str = "") -> tuple[str, Mapping[str, Any]]:
        """The name and entry of a context, the current one by default; NotFoundError with the names there are."""
        wanted = name or self.current
        if wanted in self.contexts:
            return wanted, self.contexts[wanted]
        there_are = f"There are: {', '.join(sorted(self.contexts)) or 'none'}"
        if not wanted:
            raise NotFoundError("No context is chosen", why=there_are, next="Add --context NAME or --cluster=local")
        raise NotFoundError(
            f"The kubeconfig has no context {wanted}", why=there_are, next="kubectl config get-contexts"
        )


def files(env: Mapping[str, str], given: str = "") -> list[Path]:
    """The files that count: `given` (--kubeconfig) alone, else those of KUBECONFIG, else the default one."""
    if given:
        path = Path(given).expanduser()
        if not path.is_file():
            raise NotFoundError(f"There is no kubeconfig {given}", next="Check --kubeconfig")
        return [path]
    listed = [part for part in env.get("KUBECONFIG", "").split(":") if part]
    home = env.get("HOME")
    default = Path(home) / DEFAULT_FILE.removeprefix("~/") if home else Path(DEFAULT_FILE).expanduser()
    paths = [Path(part).expanduser() for part in listed] or [default]
    return [path for path in paths if path.is_file()]


def load(paths: list[Path]) -> Kubeconfig:
    """Reads and merges: the first file that names an entry, or the current context, wins.

    The official client (37) lets the last file's current-context win, resolves a user's files against the cluster's
    directory, and refuses an empty file; so the merge is done here as client-go does it
    (tools/clientcmd/loader.go, ClientConfigLoadingRules).
    """
    merged: dict[str, dict[str, Mapping[str, Any]]] = {section: {} for section in SECTIONS}
    current = ""
    for path in paths:
        content = _read(path)
        current = current or content.get("current-context") or ""
        for section in SECTIONS:
            for entry in content.get(section) or ():
                body = entry.get(section.removesuffix("s")) or {}
                merged[section].setdefault(entry.get("name", ""), _absolute(body, path.parent))
    return Kubeconfig(**merged, current=current)


def login(config: Kubeconfig, context: str) -> Callable[[], Login]:
    """The login by a context: called again, it runs the exec plugin and reads the token file again."""
    _, chosen = config.context(context)
    cluster, user = chosen.get("cluster", ""), chosen.get("user", "")
    if cluster not in config.clusters:
        raise NotFoundError(
            f"Context {context} names the cluster {cluster!r}, which the kubeconfig does not have",
            next="kubectl config view",
        )
    return lambda: _login(config.clusters[cluster], config.users.get(user, {}))


def _login(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> Login:
    configuration = new_configuration()
    from kubernetes.config import ConfigException, load_kube_config_from_dict

    user = {key: value for key, value in user.items() if value is not None}
    _check_provider(user)
    user, expires = _run_plugin(user, cluster) if "exec" in user else (user, None)
    alone = {
        "clusters": [{"name": "x", "cluster": cluster}],
        "users": [{"name": "x", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "current-context": "x",
    }
    try:
        load_kube_config_from_dict(  # type: ignore[no-untyped-call]
            alone, client_configuration=configuration, persist_config=False
        )
    except (ConfigException, OSError, ValueError) as error:
        raise XlaunchError("The kubeconfig cannot be used", why=str(error), next="kubectl config view") from error
    if "proxy-url" in cluster:
        configuration.no_proxy = ""  # as in kubectl, it holds whatever the environment says
    if not configuration.verify_ssl:
        import urllib3

        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return Login(configuration, expires, _impersonation(user))


def _run_plugin(user: Mapping[str, Any], cluster: Mapping[str, Any]) -> tuple[Mapping[str, Any], datetime | None]:
    """Runs the exec plugin and puts what it gave into the user entry.

    The official loader only logs a plugin's failure and goes on without credentials, takes either token or
    certificate, and never renews a certificate; its ExecProvider is sound.
    """
    from kubernetes.config import ConfigException
    from kubernetes.config.exec_provider import ExecProvider
    from kubernetes.config.kube_config import ConfigNode

    from xlaunch.core.timestamps import parse

    plugin = user["exec"]
    try:
        provider = ExecProvider(ConfigNode("exec", plugin), "", ConfigNode("cluster", cluster))  # type: ignore[no-untyped-call]
        status = provider.run()  # type: ignore[no-untyped-call]
        if not isinstance(status, Mapping) or not all(isinstance(status.get(key, ""), str) for key in PLUGIN_GIVES):
            raise ConfigException("exec: the status that it printed does not hold text")
    except (ConfigException, OSError, ValueError, TypeError, AttributeError) as error:
        missing = isinstance(error, FileNotFoundError)
        raise XlaunchError(
            f"The credential plugin {plugin.get('command')} failed",
            why=(missing and plugin.get("installHint")) or " ".join(str(error).split()),
            next=f"Run it by hand: {shlex.join([plugin.get('command', ''), *(plugin.get('args') or ())])}",
            reason="CredentialPlugin",
        ) from error
    given = {key: value for key, value in user.items() if key != "exec"}
    if "token" in status:
        given["token"] = status["token"]
    for key, target in (("clientCertificateData", "client-certificate-data"), ("clientKeyData", "client-key-data")):
        if key in status:
            given[target] = base64.b64encode(status[key].encode()).decode()
    return given, parse(status.get("expirationTimestamp"))


def _check_provider(user: Mapping[str, Any]) -> None:
    """Refuses what kubectl has removed, and the official client would ask Google or Azure for."""
    provider = user.get("auth-provider")
    name = provider.get("name") if isinstance(provider, Mapping) else provider
    if provider and name != "oidc":
        raise UsageError(
            f"The auth-provider {name} of the kubeconfig is not supported",
            why="Kubernetes has removed it in 1.26",
            next="Fetch the credentials again: the plugins gke-gcloud-auth-plugin and kubelogin have replaced it",
        )


def _impersonation(user: Mapping[str, Any]) -> Mapping[str, str]:
    """`as` of a user entry as a header; more of it would need repeated headers, which the client cannot send."""
    if user.get("as-groups") or user.get("as-user-extra"):
        raise UsageError(
            "as-groups and as-user-extra in a kubeconfig are not supported", next="Use a context without them"
        )
    headers = {"Impersonate-User": user.get("as"), "Impersonate-Uid": user.get("as-uid")}
    return {name: value for name, value in headers.items() if value}


def _read(path: Path) -> Mapping[str, Any]:
    import yaml

    try:
        content = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        # Without what stands there: it may be a secret
        where = getattr(error, "problem_mark", None)
        why = f"{getattr(error, 'problem', None) or error}{f', line {where.line + 1}' if where else ''}"
        raise _unusable(path, "is no YAML", " ".join(why.split())) from error
    except OSError as error:
        raise _unusable(path, "cannot be read", error.strerror or str(error)) from error
    content = content or {}
    wrong = next(_problems(content), "")
    if wrong:
        raise _unusable(path, "is no kubeconfig", wrong)
    found: Mapping[str, Any] = content
    return found


def _problems(content: Any) -> Iterator[str]:
    if not isinstance(content, Mapping):
        yield "It holds no mapping"
        return
    if not isinstance(content.get("current-context") or "", str):
        yield "current-context is not text"
    for section in SECTIONS:
        entries = content.get(section) or []
        if not isinstance(entries, list):
            yield f"{section} is not a list"
            return
        for entry in entries:
            yield from kubeconfig_entry.problems(section, entry)


def _unusable(path: Path, what: str, why: str) -> XlaunchError:
    return XlaunchError(
        f"{path} {what}", why=why, next="Correct it, or name another one with --kubeconfig", reason="Kubeconfig"
    )


def _absolute(entry: Mapping[str, Any], directory: Path) -> Mapping[str, Any]:
    """The entry with its file names, and the directory of its plugin, made absolute."""
    base = directory.absolute()
    files = {key: str(base / entry[key]) for key in FILE_KEYS if entry.get(key)}
    if entry.get("exec"):
        command = entry["exec"].get("command", "")
        # A command with a slash is relative to the kubeconfig; another is looked up in PATH
        found = str(base / command) if "/" in command else command
        return {**entry, **files, "exec": {**entry["exec"], "command": found}}
    return {**entry, **files}
