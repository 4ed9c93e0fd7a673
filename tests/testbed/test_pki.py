import base64
import json
import socket
import ssl
import stat
import threading

import pytest

from testbed import pki


def handshake(server, trusted, user=None, host="127.0.0.1"):
    """Connects to a server with that certificate; returns the client's subject as the server sees it."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(server.certificate, server.key)
    client = ssl.create_default_context(cafile=trusted)
    # What Python 3.13 asks for by default
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    if user:
        serving.load_verify_locations(trusted)
        serving.verify_mode = ssl.CERT_REQUIRED
        client.load_cert_chain(user.certificate, user.key)
    here, there = socket.socketpair()
    seen = []

    def serve():
        try:
            with serving.wrap_socket(there, server_side=True) as end:
                seen.append(end.getpeercert())
                end.sendall(b".")
        except ssl.SSLError:
            there.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.wrap_socket(here, server_hostname=host) as end:
            assert end.recv(1) == b"."
    finally:
        here.close()
        thread.join()
    return seen[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_is_trusted_by_its_authority(tmp_path, host):
    authority = pki.Authority(tmp_path, "ca")
    assert handshake(authority.server("server"), authority.certificate, host=host) is None


def test_another_name_is_not_trusted(tmp_path):
    authority = pki.Authority(tmp_path, "ca")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(authority.server("server"), authority.certificate, host="example.org")


def test_another_authority_is_not_trusted(tmp_path):
    authority = pki.Authority(tmp_path, "ca")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(authority.server("server"), pki.Authority(tmp_path, "other").certificate)


def test_a_user_has_a_name_and_groups(tmp_path):
    authority = pki.Authority(tmp_path, "ca")
    user = authority.user("system:kube-scheduler", ["one", "two"])
    subject = handshake(authority.server("server"), authority.certificate, user)["subject"]
    assert [pair for [pair] in subject] == [
        ("organizationName", "one"),
        ("organizationName", "two"),
        ("commonName", "system:kube-scheduler"),
    ]
    assert user.certificate.name == "kube-scheduler.crt"


def test_a_kubeconfig_holds_everything(tmp_path):
    authority = pki.Authority(tmp_path, "ca")
    user = authority.user("admin", ["system:masters"])
    path = pki.write_kubeconfig(tmp_path / "kubeconfig", "https://127.0.0.1:1", authority.certificate, user, "team")
    config = json.loads(path.read_text())
    held = config["clusters"][0]["cluster"]
    assert held["server"] == "https://127.0.0.1:1"
    assert base64.b64decode(held["certificate-authority-data"]) == authority.certificate.read_bytes()
    assert base64.b64decode(config["users"][0]["user"]["client-key-data"]) == user.key.read_bytes()
    assert config["contexts"][0]["context"]["namespace"] == "team"


def test_keys_are_their_owners_alone(tmp_path):
    authority = pki.Authority(tmp_path, "ca")
    kubeconfig = pki.write_kubeconfig(tmp_path / "k", "https://x", authority.certificate, authority.user("a"))
    files = [authority.server("s").key, pki.service_account_keys(tmp_path).key, kubeconfig]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_service_account_keys_are_a_pair(tmp_path):
    from cryptography.hazmat.primitives import serialization

    pair = pki.service_account_keys(tmp_path)
    private = serialization.load_pem_private_key(pair.key.read_bytes(), None)
    public = serialization.load_pem_public_key(pair.certificate.read_bytes())
    assert private.public_key() == public
