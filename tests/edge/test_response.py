"""A stream from an upstream's socket to a caller's, through all that sends it."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import gevent
import gevent.socket
import pytest

from engine import dialects
from engine.edge.response import _Sending
from engine.exchange.exchange import Response
from engine.exchange.push_stream import Pipeline
from engine.server.outgoing import Outgoing
from engine.server.worker import Worker, _Direct
from engine.upstream.attempt import AttemptResult
from engine.upstream.client.client import Client as Real
from engine.upstream.first_content import read_first_content
from engine.upstream.reply import relay
from tests.support.documents import exchange
from tests.support.peer import Peer, read_request, serving
from tests.support.upstreams import WATCHER, Client, returned_headers, target

OPENAI = dialects.get("openai")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
EVENTS = [
    b'data: {"choices":[{"delta":{"content":"%d %b"}}]}\n\n' % (number, b"x" * size)
    for number, size in enumerate([1, 5, 70_000, 20, 5_000] * 8)
]


def unchunked(data: bytes) -> bytes:
    """The body of an answer whose chunks end as they should."""
    rest, body, size = data.partition(b"\r\n\r\n")[2], b"", -1
    while size:
        line, _, rest = rest.partition(b"\r\n")
        size = int(line, 16)
        body, end, rest = body + rest[:size], rest[size : size + 2], rest[size + 2 :]
        assert end == b"\r\n"
    assert not rest
    return body


def send(response: Response, caller: Any) -> list[bool]:
    """Send it as the worker does; whether the loop's own greenlet did, for each piece offered."""
    out = Outgoing(
        SimpleNamespace(method="GET", version=(1, 1), should_close=lambda: False),
        caller,
        SimpleNamespace(),
    )
    offered, try_send = [], out._try_send

    def noted(data: bytes) -> bool:
        offered.append(gevent.getcurrent() is gevent.get_hub())
        return try_send(data)

    out._try_send = noted  # type: ignore[method-assign]
    worker: Any = Worker.__new__(Worker)
    bodies = [_Sending(response.body, exchange(), -1, ())]

    def app(environ: Any, start_response: Any) -> Any:
        start_response("200 OK", [])
        return bodies.pop()

    worker.wsgi = app
    worker._answer(worker.wsgi, {}, out)
    return offered


@pytest.mark.parametrize("slow", [False, True])
def test_a_stream_reaches_a_caller_byte_by_byte_and_wakes_nobody(slow: bool) -> None:
    whole, dice = b"".join(EVENTS), random.Random(slow)

    def handle(sock: Any, _peer: Peer) -> None:
        read_request(sock)
        sock.sendall(HEAD)
        at = 0
        while at < len(whole):
            piece = whole[at : at + dice.choice([10, 500, 9_000, 60_000])]
            at += len(piece)
            sock.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
            gevent.sleep(0.001)
        sock.sendall(b"0\r\n\r\n")

    near, far = gevent.socket.socketpair()
    near.__class__ = _Direct
    near.setblocking(1)
    near.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_SNDBUF, 4096)

    def read() -> bytes:
        got = b""
        while data := far.recv(5_000 if slow else 100_000):
            got += data
            gevent.sleep(0.0005 if slow else 0)
        return got

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
    assert unchunked(reader.get(timeout=10)) == whole
    far.close()
    assert len(offered) > 3
    assert all(offered)


def test_a_body_without_a_passage_has_none_to_offer() -> None:
    assert _Sending([b"a"], exchange(), -1, ()).pipeline is None
    pipeline = Pipeline()
    body: Any = SimpleNamespace(pipeline=pipeline)
    assert _Sending(body, exchange(), -1, ()).pipeline is pipeline
