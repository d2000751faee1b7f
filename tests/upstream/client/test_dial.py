"""From a URL to a socket, by the client: names and addresses, TLS, unix sockets, proxies."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gevent
import gevent.socket
import pytest

from engine.upstream.client.address import origin_of
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.dial import dial
from engine.upstream.client.dial_order import Address, Answer, FixedAddress
from engine.upstream.client.failures import Cancelled, Truncated, UpstreamFailure
from tests.support.http_client import LONG, SHORT, read_all
from tests.support.peer import (
    CLOSE,
    OK,
    READ,
    STALL,
    Authority,
    Peer,
    answering,
    echo,
    read_request,
    scripted,
    server_context,
    serving,
)
from tests.support.waiting import PATIENCE

QUICK = Timeouts(connect=SHORT)


def ask(client: Client) -> bytes:
    return read_all(client.send("GET", "/x", [], None))


def fails(client: Client) -> UpstreamFailure:
    with pytest.raises(UpstreamFailure) as excinfo:
        ask(client)
    assert not excinfo.value.response_started
    assert not excinfo.value.request_sent
    return excinfo.value


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def full() -> Iterator[int]:
    """A port whose queue is full: connecting to it waits."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = []
        for _ in range(4):
            waiting.append(socket.socket())
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(listener.getsockname())
        yield listener.getsockname()[1]
        for sock in waiting:
            sock.close()


def closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def named(*ports: int, **options: Any) -> Client:
    """A client of a name whose addresses are these ports of this machine."""
    answer = Answer([Address("127.0.0.1", each) for each in ports], 30.0)
    lookup = lambda host, port: answer  # noqa: E731
    return Client("http://name.example", **{"environ": {}, "lookup": lookup, **options})


# --- names and addresses


def test_refused() -> None:
    port = closed_port()
    failure = fails(Client(f"http://127.0.0.1:{port}"))
    assert failure.kind == "connect"
    assert f"127.0.0.1:{port}: Connection refused" in failure.message


def test_an_unknown_name() -> None:
    def unknown(host: str, port: int) -> Answer:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    failure = fails(Client("http://nobody.example", environ={}, lookup=unknown))
    assert failure.kind == "connect"
    assert "nobody.example: Name or service not known" in failure.message


def test_each_address_is_tried() -> None:
    with serving(echo) as peer:
        client = named(closed_port(), closed_port(), peer.port)
        assert ask(client)
        client.close()


def test_connections_are_spread_over_the_addresses() -> None:
    with serving(echo) as first, serving(echo) as second:
        client = named(first.port, second.port, pool_size=0)
        for _ in range(4):
            ask(client)
        assert (first.connections, second.connections) == (2, 2)
        client.close()


def test_a_silent_address_leaves_time_for_the_next(full: int) -> None:
    with serving(echo) as peer:
        client = named(full, peer.port, timeouts=Timeouts(connect=1.0))
        assert ask(client)
        client.close()


def test_the_last_address_gives_the_reason(full: int) -> None:
    client = named(full, full, timeouts=QUICK)
    assert fails(client).kind == "connect_timeout"
    client.close()


def test_a_connection_that_takes_too_long(full: int) -> None:
    failure = fails(Client(f"http://127.0.0.1:{full}", timeouts=QUICK))
    assert failure.kind == "connect_timeout"
    assert failure.message.endswith(f": 127.0.0.1:{full}")


def test_a_name_that_takes_too_long() -> None:
    def slow(host: str, port: int) -> Answer:
        gevent.sleep(60)
        return Answer([], 30.0)

    client = Client("http://name.example", environ={}, timeouts=QUICK, lookup=slow)
    assert fails(client).kind == "connect_timeout"
    client.close()


def test_tls_that_takes_too_long() -> None:
    with serving(scripted([STALL])) as peer:
        client = Client(f"https://127.0.0.1:{peer.port}", timeouts=QUICK)
        assert fails(client).kind == "connect_timeout"


def test_the_socket_of_a_tls_handshake_that_takes_too_long_is_closed() -> None:
    with gevent.socket.create_server(("127.0.0.1", 0)) as listener:
        client = Client(f"https://127.0.0.1:{listener.getsockname()[1]}", timeouts=QUICK)
        failure = fails(client)  # held here, as a log does: its traceback has the socket
        peer, _ = listener.accept()
        with peer, gevent.Timeout(LONG):
            while peer.recv(4096):
                pass
    assert failure.kind == "connect_timeout"


def test_a_proxy_that_takes_too_long() -> None:
    with serving(answering(STALL)) as peer:
        client = Client("https://h", proxy=peer.url, timeouts=QUICK)
        assert fails(client).kind == "connect_timeout"


def test_the_total_timeout_limits_connecting_too(full: int) -> None:
    client = Client(f"http://127.0.0.1:{full}", timeouts=Timeouts(total=SHORT))
    assert fails(client).kind == "total_timeout"


def test_a_timeout_of_the_caller_passes(full: int) -> None:
    with pytest.raises(gevent.Timeout), gevent.Timeout(SHORT):
        ask(Client(f"http://127.0.0.1:{full}"))


def test_ipv6() -> None:
    listener = gevent.socket.socket(socket.AF_INET6)
    try:
        listener.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    listener.listen()
    with serving(echo, listen=listener):
        port = listener.getsockname()[1]
        assert f"Host: [::1]:{port}\r\n".encode() in ask(Client(f"http://[::1]:{port}"))


def test_nagle_is_off_and_keepalive_on() -> None:
    with serving(echo) as peer:
        address = Address("127.0.0.1", peer.port)
        sock: Any = dial(origin_of(peer.url), None, None, LONG, FixedAddress(address))[0]
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        sock.close()


@pytest.mark.parametrize("base", ["", "/base"])
def test_unix_socket(tmp_path: Path, base: str) -> None:
    path = str(tmp_path / "s")
    listener = gevent.socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    with serving(echo, listen=listener):
        address = path.replace("/", "%2F") + base if base else path
        client = Client(f"http+unix://{address}", proxy="http://unused:1")
        assert client.base_path == base
        assert b"Host: localhost\r\n" in ask(client)
        assert b"Host: localhost\r\n" in ask(client)


def test_a_unix_socket_that_does_not_exist(tmp_path: Path) -> None:
    assert fails(Client(f"http+unix://{tmp_path}/s")).kind == "connect"


# --- TLS


@contextmanager
def secure(authority: Authority, handle: Any, *names: str, **options: Any) -> Iterator[Any]:
    context = server_context(authority.issue(*(names or ("localhost", "127.0.0.1"))))
    with serving(handle, tls=context) as peer:
        client = Client(f"https://localhost:{peer.port}", **{"ca": authority.path, **options})
        try:
            yield client, peer
        finally:
            client.close()


def test_tls(authority: Authority) -> None:
    with secure(authority, echo) as (client, peer):
        for _ in range(3):
            assert f"Host: localhost:{peer.port}\r\n".encode() in ask(client)
        assert peer.connections == 1
        assert peer.sockets[0].selected_alpn_protocol() == "http/1.1"


def test_tls_sends_the_name_of_the_host(authority: Authority) -> None:
    names: list[str] = []
    context = server_context(authority.issue("localhost"))
    context.sni_callback = lambda _sock, name, _context: names.append(name)
    with serving(echo, tls=context) as peer:
        ask(Client(f"https://localhost:{peer.port}", ca=authority.path))
    assert names == ["localhost"]


def test_tls_to_an_address(authority: Authority) -> None:
    with secure(authority, echo) as (_, peer):
        assert ask(Client(f"https://127.0.0.1:{peer.port}", ca=authority.path))


def test_tls_of_an_unknown_authority(authority: Authority) -> None:
    with secure(authority, echo, ca=None) as (client, _):
        failure = fails(client)
        assert failure.kind == "connect"
        assert "its certificate is refused" in failure.message


def test_tls_of_another_host(authority: Authority) -> None:
    with secure(authority, echo, "other.example") as (client, _):
        failure = fails(client)
        assert failure.kind == "connect"
        assert "mismatch" in failure.message


def test_tls_unverified(authority: Authority) -> None:
    with secure(authority, echo, "other.example", ca=None, verify=False) as (client, _):
        assert ask(client)


def test_tls_to_a_plain_server() -> None:
    with serving(scripted([b"HTTP/1.1 400 Bad Request\r\n\r\n", STALL])) as peer:
        failure = fails(Client(f"https://127.0.0.1:{peer.port}"))
        assert failure.kind == "connect"
        assert "TLS failed" in failure.message


def test_client_certificate(authority: Authority) -> None:
    context = server_context(authority.issue("localhost"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.path)
    with serving(echo, tls=context) as peer:
        url, certificate = f"https://localhost:{peer.port}", authority.issue("me")
        assert ask(Client(url, ca=authority.path, cert=certificate))
        with pytest.raises(UpstreamFailure):
            ask(Client(url, ca=authority.path))


def test_a_missing_certificate_is_an_error_at_start() -> None:
    with pytest.raises(OSError):
        Client("https://h", cert=("/nowhere", "/nowhere"))
    with pytest.raises(OSError):
        Client("https://h", ca="/nowhere")


def test_tls_large_bodies(authority: Authority) -> None:
    with secure(authority, echo) as (client, peer):
        for _ in range(2):
            response = client.send("POST", "/", [], b"x" * 3_000_000)
            assert read_all(response).endswith(b"x" * 3_000_000)
        assert peer.connections == 1


def test_tls_response_before_the_request_is_sent(authority: Authority) -> None:
    def handle(sock: Any, peer: Peer) -> None:
        sock.recv(1000)
        scripted([OK, STALL])(sock, peer)

    with secure(authority, handle) as (client, peer):
        for _ in range(2):
            assert read_all(client.send("POST", "/", [], b"x" * 32_000_000)) == b"ok"
        assert peer.connections == 2


def test_tls_stale_connection(authority: Authority) -> None:
    with secure(authority, echo) as (client, peer):
        ask(client)
        peer.drop()
        ask(client)
        assert peer.connections == 2


def test_tls_bytes_without_a_request(authority: Authority) -> None:
    with secure(authority, answering(OK, b"x" * 40_000)) as (client, peer):
        for _ in range(2):
            assert ask(client) == b"ok"
            gevent.sleep(SHORT / 5)
        assert peer.connections == 2


def test_tls_reused_connection_that_ends_without_a_byte(authority: Authority) -> None:
    with secure(authority, scripted([READ, OK, READ, CLOSE], [READ, OK])) as (client, peer):
        assert ask(client) == ask(client) == b"ok"
        assert peer.connections == 2


def test_tls_cut_truncates_a_body(authority: Authority) -> None:
    with secure(authority, answering(b"HTTP/1.1 200 OK\r\n\r\nall", CLOSE)) as (client, _):
        response = client.send("GET", "/", [], None)
        assert response.read() == b"all"
        with pytest.raises(Truncated):
            response.read()


def test_tls_clean_end_of_a_body(authority: Authority) -> None:
    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(b"HTTP/1.1 200 OK\r\n\r\nall")
        sock.unwrap()

    with secure(authority, handle) as (client, _):
        assert ask(client) == b"all"


def test_tls_idle_timeout_and_cancel(authority: Authority) -> None:
    with secure(
        authority, answering(OK[:-1], STALL), timeouts=Timeouts(first_byte=5, idle=SHORT)
    ) as (client, _):
        response = client.send("GET", "/", [], None)
        assert response.read() == b"o"
        with pytest.raises(UpstreamFailure) as excinfo:
            response.read()
        assert excinfo.value.kind == "idle_timeout"
    with secure(authority, answering(OK[:-1], STALL)) as (client, _):
        response = client.send("GET", "/", [], None)
        assert response.read() == b"o"
        reader = gevent.spawn(response.read)
        gevent.sleep(0)
        response.close()
        with pytest.raises(Cancelled):
            reader.get(timeout=PATIENCE)


# --- proxies


def proxying(target: int) -> Any:
    """A proxy that takes every CONNECT to one port of this machine, and answers all else itself."""

    def pump(source: Any, sink: Any) -> None:
        while data := source.recv(65536):
            sink.sendall(data)

    def handle(sock: Any, peer: Peer) -> None:
        while request := read_request(sock):
            peer.requests.append(request)
            if not request.startswith(b"CONNECT"):
                sock.sendall(OK)
                continue
            sock.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            onward = gevent.socket.create_connection(("127.0.0.1", target))
            back = gevent.spawn(pump, onward, sock)
            pump(sock, onward)
            back.kill()

    return handle


def with_password(peer: Peer) -> str:
    return f"http://me:secret@127.0.0.1:{peer.port}"


def test_https_goes_through_a_tunnel(authority: Authority) -> None:
    context = server_context(authority.issue("api.example"))
    with serving(echo, tls=context) as far, serving(proxying(far.port)) as peer:
        client = Client("https://api.example/v1", ca=authority.path, proxy=with_password(peer))
        for _ in range(2):
            request = ask(client)
            assert request.startswith(b"GET /x HTTP/1.1\r\nHost: api.example\r\n")
            assert b"Proxy" not in request
        assert peer.requests == [
            b"CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n"
            b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n"
        ]


def test_http_by_a_proxy_sends_the_absolute_url() -> None:
    with serving(proxying(0)) as peer:
        client = Client("http://api.example:81/v1", proxy=with_password(peer))
        assert ask(client) == ask(client) == b"ok"
        assert peer.connections == 1
        assert peer.requests[1] == (
            b"GET http://api.example:81/x HTTP/1.1\r\nHost: api.example:81\r\n"
            b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n"
        )


def test_a_proxy_of_the_environment() -> None:
    with serving(proxying(0)) as peer:
        environ = {"http_proxy": peer.url, "NO_PROXY": "inside.example"}
        assert ask(Client("http://api.example", environ=environ)) == b"ok"
        with serving(echo) as direct:
            assert ask(Client(direct.url, environ=environ)).startswith(b"GET /x ")
    assert peer.connections == 1


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n", "the proxy answered 407"),
        (b"HTTP/1.1 502 No\r\n\r\nsecret", "the proxy answered 502"),
        (b"HTTP/1.1 200 OK\r\n\r\nearly", "before the tunnel was used"),
        (b"SSH-2.0-x\r\n", "did not answer as a proxy does"),
        (b"HTTP/1.1 200 OK\r\n", "did not answer as a proxy does"),
        (CLOSE, "did not answer as a proxy does"),
    ],
)
def test_a_proxy_that_opens_no_tunnel(response: Any, words: str) -> None:
    with serving(answering(response, CLOSE)) as peer:
        failure = fails(Client("https://api.example", proxy=with_password(peer)))
        assert failure.kind == "connect"
        assert words in failure.message
        assert "secret" not in failure.message


def test_a_proxy_that_does_not_listen() -> None:
    port = closed_port()
    failure = fails(Client("https://api.example", proxy=f"http://me:secret@127.0.0.1:{port}"))
    assert failure.kind == "connect"
    assert f"api.example by the proxy 127.0.0.1:{port}: Connection refused" in failure.message
