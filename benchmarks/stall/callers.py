"""Callers of a gateway: one sends a large request, another many small ones beside it."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import time
from contextlib import ExitStack, suppress
from threading import Thread

from websockets.sync.client import connect

from benchmarks.serving import BODY, HEADERS
from benchmarks.stall.kind import CHAT, Kind
from benchmarks.stall.kinds import MANY
from benchmarks.stall.wire_kinds import HEADERS as ODD_HEADERS
from engine.mcp.protocol.revisions import LEGACY
from tests.support.frames import CONT, KEY, MASK, TEXT, Peer, frame
from tests.support.recording import Wire, request

CROWD = 1_000
"""Chats that are sent at once."""
SECONDS, PER_SECOND = 10, 10
"""Seconds of mixed load, and its large requests per second."""


def send(kind: Kind, body: bytes, port: int) -> None:
    """Send a large request, and read its answer."""
    if kind.status == 101:
        _converse(kind, body, port)
        return
    if kind.is_raw:
        _send_raw(kind, body, port)
        return
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    headers = {**HEADERS, **ODD_HEADERS.get(kind.name, {}), "content-type": kind.media_type}
    if kind.path.startswith("/mcp"):
        headers |= {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": LEGACY[0],
        }
    connection.request(kind.method, kind.path, body or None, headers)
    response = connection.getresponse()
    beginning = b""
    try:
        while data := response.read(1 << 20):
            beginning = beginning or data[:1_000]
    except http.client.IncompleteRead as error:
        print(f"{kind.name}: broke off after {(beginning or error.partial)[:100]!r}")
    connection.close()
    if response.status != kind.status:
        text = beginning[:200].decode(errors="replace")
        print(f"{kind.name}: answered {response.status} and not {kind.status}: {text}")


def _send_raw(kind: Kind, data: bytes, port: int) -> None:
    """Send bytes, and read what comes back until the gateway closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as sock:
        sender = Thread(target=_send_all, args=(sock, data))
        sender.start()
        beginning = b""
        with suppress(ConnectionResetError):
            while piece := sock.recv(1 << 20):
                beginning = beginning or piece[:1_000]
        sender.join()
    if not beginning.startswith(b"HTTP/1.1 %d " % kind.status):
        print(f"{kind.name}: answered {beginning[:200]!r}")


def _send_all(sock: socket.socket, data: bytes) -> None:
    with suppress(OSError):  # the gateway may refuse it by its beginning
        sock.sendall(data)


def _converse(kind: Kind, message: bytes, port: int) -> None:
    """Send a large message over a WebSocket, and a small one that continues its conversation."""
    if kind.deflate:
        _converse_compressed(kind, message, port)
        return
    wire = Wire(port)
    upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
    wire.send(
        request(kind.path, headers=[*upgrade, f"Sec-WebSocket-Key: {KEY}"], token="mw-bench-one")
    )
    if wire.head()[0] != kind.status:
        raise SystemExit(f"{kind.name}: the upgrade is refused")
    peer = Peer(wire.sock, client=True)
    if kind.first:
        peer.text(kind.first.decode())
        peer.next()
    wire.send(_frames(message, kind.frames))
    if kind.path != "/v1/responses":
        peer.next()
        wire.close()
        return
    last = json.loads(_last(peer))
    more = {"previous_response_id": last["response"]["id"], "input": "And?", "store": False}
    peer.text(json.dumps({"type": "response.create", "model": "gpt-turn", **more}))
    _last(peer)
    wire.close()


def _converse_compressed(kind: Kind, message: bytes, port: int) -> None:
    """Send a message by permessage-deflate, and wait for it to come back, or for the last event."""
    headers = {"authorization": HEADERS["authorization"]}
    url = f"ws://127.0.0.1:{port}{kind.path}"
    with connect(url, additional_headers=headers, max_size=None, ping_interval=None) as peer:
        if not peer.protocol.extensions:
            raise SystemExit(f"{kind.name}: the gateway does not compress")
        if kind.first:
            peer.send(kind.first.decode())
            peer.recv()
        peer.send(message.decode())
        while b"response.created" in (data := peer.recv(60, decode=False)):
            pass
        if b'"error"' in data[:1_000]:
            raise SystemExit(data.decode())


def _frames(message: bytes, count: int) -> bytes:
    """A text message in so many frames of a client."""
    size = -(-len(message) // count)
    return b"".join(
        frame(
            TEXT if not at else CONT,
            message[at : at + size],
            mask=MASK,
            fin=at + size >= len(message),
        )
        for at in range(0, len(message), size)
    )


def _last(peer: Peer) -> bytes:
    """The last event of a response."""
    while b'"response.completed"' not in (data := peer.next().data):
        if b'"error"' in data:
            raise SystemExit(data.decode())
    return data


def send_many(port: int) -> None:
    """Send large requests at a steady rate."""
    body, begin = MANY.body(), time.monotonic()
    senders = []
    for number in range(SECONDS * PER_SECOND):
        time.sleep(max(0.0, begin + number / PER_SECOND - time.monotonic()))
        senders.append(Thread(target=send, args=(MANY, body, port)))
        senders[-1].start()
    for sender in senders:
        sender.join()


def send_at_once(port: int) -> None:
    """Send CROWD chats over connections that are opened as fast as they can be, and read their
    answers."""
    head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    size = f"content-length: {len(BODY)}\r\nconnection: close\r\n\r\n"
    message = f"POST {CHAT} HTTP/1.1\r\nhost: a\r\n{head}{size}".encode() + BODY
    with ExitStack() as stack:
        sockets = []
        for _ in range(CROWD):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=120))
            sock.sendall(message)
            sockets.append(sock)
        answers = [sock.recv(1 << 16) for sock in sockets]
    others = [answer[:100] for answer in answers if not answer.startswith(b"HTTP/1.1 200 ")]
    if others:
        print(f"{len(others)} of {CROWD} chats: answered {others[0]!r}")


def probe(port: int) -> None:
    """Send small requests until a line comes. Print a line at the first, and at the end when each
    began and how long it took."""
    times: list[tuple[float, float]] = []
    connection = http.client.HTTPConnection("127.0.0.1", port)
    ends = Thread(target=sys.stdin.readline, daemon=True)
    ends.start()
    print("begun", flush=True)
    while ends.is_alive():
        begin = time.monotonic()
        connection.request("POST", CHAT, BODY, HEADERS)
        connection.getresponse().read()
        times.append((begin, time.monotonic() - begin))
        time.sleep(0.001)
    for begin, seconds in times:
        print(f"{begin} {seconds}")
