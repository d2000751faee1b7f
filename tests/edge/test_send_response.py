"""A stream from an upstream's socket to a caller's, through all that sends it."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import Any

import falcon
import gevent
import gevent.socket
import pytest

from engine import dialects
from engine.edge.send_response import ResponseBody
from engine.edge.send_response import send as give
from engine.exchange.caller_connection import WSGIConnection
from engine.exchange.exchange import Exchange, Response
from engine.exchange.push_stream import Pipeline, PushStream
from engine.server.http1.request import RequestHead
from engine.server.sockets.caller_socket import CallerSocket
from engine.server.worker_connection import WorkerConnection
from engine.upstream.client.client import Client as Real
from engine.upstream.responses.attempt_result import AttemptResult
from engine.upstream.responses.first_content import read_first_content
from engine.upstream.responses.relay_response import relay
from tests.support.documents import exchange
from tests.support.exchanges import new_exchange
from tests.support.peer import Peer, read_request, serving
from tests.support.upstreams import WATCHER, Client, returned_headers, target
from tests.support.waiting import PATIENCE

OPENAI = dialects.get("openai")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [
    b'data: {"choices":[{"delta":{"content":"%d %b"}}]}\n\n' % (number, b"x" * size)
    for number, size in enumerate([1, 5, 70_000, 20, 5_000] * 8)
]


def unchunked(data: bytes) -> bytes:
    """The body of an answer whose chunks end as they should."""
    chunks, body, size = data.partition(b"\r\n\r\n")[2], b"", -1
    while size:
        line, _, chunks = chunks.partition(b"\r\n")
        size = int(line, 16)
        body, end, chunks = body + chunks[:size], chunks[size : size + 2], chunks[size + 2 :]
        assert end == b"\r\n"
    assert not chunks
    return body


def over(connection: WSGIConnection) -> Exchange:
    """A request that came over this connection."""
    return new_exchange(connection=connection)


def send(response: Response, caller: Any) -> list[bool]:
    """Send it as the worker does; whether the loop's own greenlet did, for each piece offered."""
    head = RequestHead("GET", "/", 1)
    out = WorkerConnection(CallerSocket(caller), head, close=False)
    offered = []

    class Noting(WSGIConnection):
        def __init__(self) -> None:
            super().__init__(io.BytesIO())

        @property
        def try_send(self) -> Any:
            send = out.try_send
            assert send is not None

            def noting(data: bytes) -> bool:
                offered.append(gevent.getcurrent() is gevent.get_hub())
                return send(data)

            return noting

    out.start_response("200 OK", [])
    for piece in ResponseBody(response.body, over(Noting()), -1):
        out.send(piece)
    out.end_response()
    return offered


@pytest.mark.parametrize("slow", [False, True])
def test_a_stream_reaches_a_caller_byte_by_byte_without_other_wakeups(slow: bool) -> None:
    body_bytes, dice = b"".join([*EVENTS, b"data: [DONE]\n\n"]), random.Random(slow)

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(HEAD)
        at = 0
        while at < len(body_bytes):
            piece = body_bytes[at : at + dice.choice([10, 500, 9_000, 60_000])]
            at += len(piece)
            sock.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
            gevent.sleep(0.001)
        sock.sendall(b"0\r\n\r\n")

    near, far = gevent.socket.socketpair()
    near.setblocking(1)
    near.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_SNDBUF, 4096)

    def read() -> bytes:
        received = b""
        while data := far.recv(5_000 if slow else 100_000):
            received += data
            gevent.sleep(0.0005 if slow else 0)
        return received

    reader = gevent.spawn(read)
    with serving(handle) as peer:
        client = Real(peer.url)
        fake_response = client.send("GET", "/", [], None)
        first_content = read_first_content(fake_response, OPENAI)
        result = AttemptResult(target(Client()), response=fake_response, content=first_content)
        offered = send(
            relay(result, returned_headers(result, OPENAI), exchange(), OPENAI, WATCHER), near
        )
        client.close()
    near.close()
    assert unchunked(reader.get(timeout=PATIENCE)) == body_bytes
    far.close()
    assert len(offered) > 3
    assert all(offered)


class Offering(WSGIConnection):
    """A connection that can send without waiting."""

    try_send = staticmethod(lambda data: True)


def test_a_stream_may_send_without_waiting_once_its_head_is_out() -> None:
    pipeline, connection = Pipeline(), Offering(io.BytesIO())
    offers = []

    def pieces() -> Iterator[bytes]:
        for _ in range(3):
            offers.append(pipeline.try_send)
            yield b"a"

    body = PushStream(pieces(), pipeline)
    assert list(ResponseBody(body, over(connection), -1)) == [b"a"] * 3
    assert offers == [None, connection.try_send, connection.try_send]


def test_a_stream_of_known_length_is_sent_by_the_server_alone() -> None:
    pipeline = Pipeline()
    body = PushStream(iter([b"a", b"b"]), pipeline)
    sending = ResponseBody(body, over(Offering(io.BytesIO())), 2)
    assert list(sending) == [b"a", b"b"]
    assert pipeline.try_send is None


def headers_of(response: Response) -> list[tuple[str, str]]:
    """The headers that Falcon sends after it was given this response."""
    answer = falcon.Response()
    give(answer, new_exchange(dialect=OPENAI), response)
    return sorted(answer.headers.items())


def test_the_headers_of_the_gateway_replace_those_of_the_upstream() -> None:
    upstream = [("x-request-id", "theirs"), ("x-limit", "1"), ("x-other", "a")]
    response = Response(200, upstream, b"abc", gateway_headers={"x-limit": "2"})
    expected = [("content-length", "3"), ("x-limit", "2"), ("x-other", "a")]
    assert headers_of(response) == [*expected, ("x-request-id", "req_1")]


def test_a_repeated_header_is_sent_once_with_all_values() -> None:
    response = Response(200, [("vary", "a"), ("vary", "b"), ("x-request-id", "theirs")], b"")
    expected = [("content-length", "0"), ("vary", "a, b"), ("x-request-id", "req_1")]
    assert headers_of(response) == expected
