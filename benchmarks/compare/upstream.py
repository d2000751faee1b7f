"""The upstream that all systems ask: a C program, and nginx in front of it for TLS."""

from __future__ import annotations

import datetime
import ipaddress
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from benchmarks.compare.system import Upstream
from benchmarks.compare.systems import nginx
from tests.support.ports import free_port

_CA = "benchmark CA"


@contextmanager
def plain(folder: Path) -> Iterator[Upstream]:
    """The upstream, compiled and running."""
    program, port = folder / "upstream", free_port()
    source = Path(__file__).with_name("upstream.c")
    subprocess.run(["gcc", "-O2", "-o", str(program), str(source)], check=True)
    with _running([str(program), str(port)], folder):
        yield Upstream(port)


@contextmanager
def over_tls(upstream: Upstream, folder: Path) -> Iterator[Upstream]:
    """The same upstream behind a TLS terminator, with a certificate of its own authority.

    Raises LeftOut where there is no nginx.
    """
    port = free_port()
    certify(folder)
    certificate = "ssl_certificate certificate.pem; ssl_certificate_key key.pem;"
    command = nginx.configure(folder, port, upstream, listen=" ssl", server=certificate)
    with _running(command, folder):
        time.sleep(0.5)
        yield Upstream(port, folder / "ca.pem")


def certify(folder: Path) -> None:
    """Write `ca.pem`, and `certificate.pem` and `key.pem` for 127.0.0.1 and localhost."""
    authority, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    ca = _certificate(_CA, authority, authority).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    )
    leaf = _certificate("localhost", key, authority).add_extension(
        x509.SubjectAlternativeName(names), critical=False
    )
    for file, builder in (("ca.pem", ca), ("certificate.pem", leaf)):
        pem = builder.sign(authority, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        (folder / file).write_bytes(pem)
    plain_text = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    pem = key.private_bytes(serialization.Encoding.PEM, form, plain_text)
    (folder / "key.pem").write_bytes(pem)


def _certificate(
    subject: str, key: ec.EllipticCurvePrivateKey, issuer: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _CA)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key()),
            critical=False,
        )
    )


@contextmanager
def _running(command: list[str], folder: Path) -> Iterator[None]:
    process = subprocess.Popen(command, cwd=folder)
    try:
        yield
    finally:
        process.terminate()
        process.wait()
