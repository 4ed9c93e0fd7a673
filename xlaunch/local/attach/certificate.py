"""The certificate of the log endpoint, signed by itself, as a kubelet makes one that was given none.

Source: kubernetes 1.37, cmd/kubelet/app/server.go, InitializeTLS. An API server without
`--kubelet-certificate-authority` takes any. Made with `cryptography`, which google-auth brings along.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

VALID = timedelta(days=365)


def self_signed(path: Path, addresses: Iterable[str], now: datetime) -> Path:
    """Writes a certificate for these IP addresses with its key into a new file that only its owner may read."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "xlaunch-node-agent")])
    names = [x509.IPAddress(ipaddress.ip_address(each)) for each in addresses]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(certificate.public_bytes(serialization.Encoding.PEM) + pem)
    return path
