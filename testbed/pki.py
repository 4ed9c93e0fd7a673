"""The certificates of one control plane: its authorities, servers and users, and kubeconfigs for the users.

Made with `cryptography`, which google-auth brings along: openssl(1) would be one more program that a machine must have.
"""

from __future__ import annotations

import base64
import ipaddress
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID = timedelta(days=365)
# A clock of another machine that reads these files may be behind
SKEW = timedelta(hours=1)
SERVER_NAMES = (x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost"))

SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


@dataclass(frozen=True)
class Pair:
    """The PEM files of a certificate and its key."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority that writes what it issues into a directory."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory = directory
        self._name = _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        extensions = [(x509.BasicConstraints(ca=True, path_length=0), True), (SIGNS_CERTIFICATES, True)]
        certificate = self._sign(self._name, self._key.public_key(), extensions)
        self.certificate = directory / f"{name}.crt"
        self.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server(self, name: str) -> Pair:
        """For a server on loopback."""
        alternative = x509.SubjectAlternativeName(SERVER_NAMES)
        return self._issue(name, _name(name), ExtendedKeyUsageOID.SERVER_AUTH, [(alternative, False)])

    def user(self, name: str, groups: Sequence[str] = ()) -> Pair:
        """For a client: Kubernetes takes the user from the common name and groups from the organisations."""
        return self._issue(name.rpartition(":")[2], _name(name, groups), ExtendedKeyUsageOID.CLIENT_AUTH, [])

    def _issue(
        self, stem: str, subject: x509.Name, purpose: x509.ObjectIdentifier, more: list[tuple[x509.ExtensionType, bool]]
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        usage = (x509.ExtendedKeyUsage([purpose]), False)
        certificate = self._sign(subject, key.public_key(), [usage, *more])
        pair = Pair(self.directory / f"{stem}.crt", self.directory / f"{stem}.key")
        pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        write_key(pair.key, key)
        return pair

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, extensions: list[tuple[x509.ExtensionType, bool]]
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - SKEW)
            .not_valid_after(now + VALID)
            # Python's ssl is strict about these two from 3.13 on
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self._key, hashes.SHA256())


def write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    """Writes a private key that only its owner may read."""
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )


def service_account_keys(directory: Path) -> Pair:
    """The key that signs tokens of service accounts, and its public half in place of a certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    pair = Pair(directory / "service-accounts.pub", directory / "service-accounts.key")
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    pair.certificate.write_bytes(public)
    write_key(pair.key, key)
    return pair


def write_kubeconfig(path: Path, server: str, authority: Path, user: Pair, namespace: str = "default") -> Path:
    """A kubeconfig in a file that only its owner may read."""
    path.touch(mode=0o600)
    path.write_text(kubeconfig(server, authority, user, namespace=namespace), encoding="utf-8")
    return path


def kubeconfig(server: str, authority: Path, user: Pair, *, name: str = "testbed", namespace: str = "default") -> str:
    """A kubeconfig that holds all it needs, so that it can be copied anywhere; `name` is its only context's, cluster's
    and user's. JSON is YAML too.
    """

    def data(file: Path) -> str:
        return base64.b64encode(file.read_bytes()).decode()

    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": data(authority)}}],
        "users": [
            {
                "name": name,
                "user": {"client-certificate-data": data(user.certificate), "client-key-data": data(user.key)},
            }
        ],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": namespace}}],
        "current-context": name,
    }
    return json.dumps(config, indent=1)


def _name(common: str, organisations: Sequence[str] = ()) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organisations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common)])
