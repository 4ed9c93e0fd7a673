"""A certificate authority for one test run: server and client certificates, as PEM files."""

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SIGNS = x509.KeyUsage(
    digital_signature=True,
    key_cert_sign=True,
    crl_sign=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """Signs certificates into a directory. `ca` is the PEM file to trust."""

    def __init__(self, directory, *, strict=True):
        self.directory, self.strict = directory, strict
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = name("test authority")
        certificate = self.sign(self.name, self.key.public_key(), [], ca=True)
        self.ca = self.write("ca.crt", certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, stem, *hosts):
        """The paths of a certificate and its key, for these DNS names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self.sign(name(stem), key.public_key(), hosts)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return (
            self.write(f"{stem}.crt", certificate.public_bytes(serialization.Encoding.PEM)),
            self.write(f"{stem}.key", pem),
        )

    def server(self, *hosts, ask_client=False):
        """An SSL context that serves these names; with `ask_client` it wants a certificate of this authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(f"server-{hosts[0]}", *hosts))
        if ask_client:
            context.load_verify_locations(self.ca)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def sign(self, subject, public, hosts, ca=False):
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        if ca:
            # Python 3.13 verifies strictly, as RFC 5280 wants it; `strict=False` makes an authority of the older kind
            builder = builder.add_extension(SIGNS, critical=True) if self.strict else builder
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([alternative(h) for h in hosts]), critical=False
            )
        return builder.sign(self.key, hashes.SHA256())

    def write(self, file, data):
        path = self.directory / file
        path.write_bytes(data)
        return str(path)


def name(common):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def alternative(host):
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
