"""A scripted gevent server: the other end of a connection."""

from __future__ import annotations

import datetime
import functools
import ipaddress
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import gevent
import gevent.socket
import gevent.ssl
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from gevent.server import StreamServer

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

# A step of a script is bytes to send, or one of these.
CLOSE = "close"  # a clean end
RESET = "reset"  # a TCP reset
STALL = "stall"  # silence until the other side leaves
READ = "read"  # wait for the next whole request

Step = bytes | str
Handler = Callable[[Any, "Peer"], None]


class Peer:
    """The connections and requests of a server."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self.requests: list[bytes] = []
        self.sockets: list[Any] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def drop(self) -> None:
        """Close every connection, as a server does with idle ones."""
        for sock in self.sockets:
            sock.close()
        self.sockets.clear()
        gevent.sleep(0)


def read_request(sock: Any) -> bytes:
    """One whole request (by its Content-Length), or b"" at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        more = sock.recv(65536)
        if not more:
            return b""
        body += more
    return head + b"\r\n\r\n" + body


def reset(sock: Any) -> None:
    sock.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def echo(sock: Any, peer: Peer) -> None:
    """Answer each request with itself."""
    while request := read_request(sock):
        peer.requests.append(request)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(request), request))


def scripted(*connections: list[Step]) -> Handler:
    """The first connection runs the first script, and so on; all later ones run the last script.

    At the end of a script the connection stays open and silent.
    """

    def handle(sock: Any, peer: Peer) -> None:
        for step in connections[min(peer.connections, len(connections)) - 1]:
            if step == READ:
                peer.requests.append(read_request(sock))
            elif step == RESET:
                reset(sock)
                return
            elif step == CLOSE:
                sock.close()
                return
            elif step == STALL:
                gevent.sleep(60)
            else:
                sock.sendall(step)
        gevent.sleep(60)

    return handle


def answering(answer: Step, *more: Step) -> Handler:
    """Each connection reads one request, then runs these steps."""
    return scripted([READ, answer, *more])


@contextmanager
def serving(handle: Handler, *, listen: Any = ("127.0.0.1", 0), tls: Any = None) -> Iterator[Peer]:
    """A server on a free port, or on a listening socket."""
    peer = Peer()

    def serve(sock: Any, _address: Any) -> None:
        peer.connections += 1
        peer.sockets.append(sock)
        if sock.family != gevent.socket.AF_UNIX:
            sock.setsockopt(gevent.socket.IPPROTO_TCP, gevent.socket.TCP_NODELAY, 1)
        try:
            handle(sock, peer)
        except OSError:
            return  # the client left, which is what many tests make it do

    options = {"ssl_context": tls} if tls else {}
    server = StreamServer(listen, serve, **options)
    server.start()
    peer.port = server.server_port or 0
    try:
        yield peer
    finally:
        server.stop(timeout=0)
        peer.drop()


class Certificate(NamedTuple):
    """Paths of two PEM files."""

    cert: str
    key: str


_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """A certificate authority in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        own = self._sign(self._name, self._key, x509.BasicConstraints(True, None), [])
        self.path = str(folder / "ca.pem")
        Path(self.path).write_bytes(own)

    def issue(self, *names: str) -> Certificate:
        """A certificate for host names or addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        alternatives: list[x509.GeneralName] = []
        for name in names:
            try:
                alternatives.append(x509.IPAddress(ipaddress.ip_address(name)))
            except ValueError:
                alternatives.append(x509.DNSName(name))
        paths = Certificate(
            str(self._folder / f"{names[0]}.pem"), str(self._folder / f"{names[0]}.key")
        )
        signed = self._sign(subject, key, x509.BasicConstraints(False, None), alternatives)
        Path(paths.cert).write_bytes(signed)
        Path(paths.key).write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return paths

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        constraints: x509.BasicConstraints,
        alternatives: list[x509.GeneralName],
    ) -> bytes:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(constraints, critical=True)
            # Python 3.13 requires these three (VERIFY_X509_STRICT).
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), False
            )
        )
        if constraints.ca:
            builder = builder.add_extension(_SIGNS_CERTIFICATES, critical=True)
        if alternatives:
            builder = builder.add_extension(
                x509.SubjectAlternativeName(alternatives), critical=False
            )
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def server_context(certificate: Certificate) -> Any:
    """TLS for a server that prefers h2 (ALPN)."""
    context = gevent.ssl.SSLContext(gevent.ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


@functools.cache
def identity() -> bytes:
    """A certificate and its key in one PEM text."""
    with tempfile.TemporaryDirectory() as folder:
        issued = Authority(Path(folder)).issue("localhost")
        return Path(issued.cert).read_bytes() + Path(issued.key).read_bytes()
