"""What the tests of connecting share: an authority, a clean environment, kubeconfig files."""

import json
import sys
from pathlib import Path

import pytest
from fakes.certificates import Authority


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


# What requests reads instead of SSL_CERT_FILE
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", *BUNDLES):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def write(tmp_path):
    """Writes a kubeconfig (JSON is YAML) into a file and returns its path."""

    def write_file(file="config", *, server="", cluster=None, user=None, name="main", namespace=None, current=None):
        context = {"cluster": name, "user": name, **({"namespace": namespace} if namespace else {})}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": server, **(cluster or {})}}],
            "users": [{"name": name, "user": user or {}}],
            "contexts": [{"name": name, "context": context}],
            "current-context": name if current is None else current,
        }
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        return path

    return write_file


@pytest.fixture
def plugin(tmp_path):
    """An exec plugin: a script that prints the next of the given statuses (the last for ever), counting its runs."""

    def make(*statuses, directory=tmp_path, version="client.authentication.k8s.io/v1"):
        script, count = Path(directory) / "plugin", Path(directory) / "runs"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(
            f"""#!{sys.executable}
import json, os, pathlib
count = pathlib.Path({str(count)!r})
runs = int(count.read_text()) if count.exists() else 0
count.write_text(str(runs + 1))
statuses = json.loads({json.dumps(json.dumps(statuses))})
status = statuses[min(runs, len(statuses) - 1)]
status = {{k: os.environ.get(v[4:], v) if v.startswith("env:") else v for k, v in status.items()}}
print(json.dumps({{"apiVersion": {version!r}, "kind": "ExecCredential", "status": status}}))
"""
        )
        script.chmod(0o700)
        return {"exec": {"apiVersion": version, "command": str(script), "interactiveMode": "Never"}}, count

    return make
