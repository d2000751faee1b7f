"""The upstream: it reads any request, and answers by its path, or the name of the model in it.

python -m benchmarks.stall.upstream PORT
"""

from __future__ import annotations

import re
import socket
import sys
import threading

from benchmarks.stall.answers import ANSWERS, BY_PATH, STREAMS, mcp_answer, small
from benchmarks.stall.bound_answers import BOUNDS, keys, many_tools
from benchmarks.stall.odd_answers import RAW
from benchmarks.stall.shape_answers import SHAPES
from benchmarks.stall.wire_answers import WIRE
from tests.support.frames import TEXT, Peer, accept

_MODEL = re.compile(rb'"model": ?"([a-z-]+)"')
_KEY = re.compile(r"sec-websocket-key: (\S+)", re.IGNORECASE)
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
_EVENTS = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)


def serve(port: int) -> None:
    """Answer all requests, each connection in a thread."""
    bodies = {name.encode(): answer() for name, answer in ANSWERS.items()}
    with socket.create_server(("127.0.0.1", port), backlog=256) as listener:
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=_converse, args=(sock, bodies), daemon=True).start()


def _converse(sock: socket.socket, bodies: dict[bytes, bytes]) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = b""
    try:
        while piece := sock.recv(1 << 20):
            data += piece
            head, end, body = data.partition(b"\r\n\r\n")
            length = _LENGTH.search(head)
            if not end or (length is not None and len(body) < int(length[1])):
                continue
            data = b""
            path = head.split(b" ", 2)[1].partition(b"?")[0].decode()
            if (key := _KEY.search(head.decode("latin-1"))) is not None:
                _echo(sock, key[1])
                return
            if path == "/guard" and b"talk" in body:
                path = "/guard-large"
            if path == "/mcp":
                _send_json(sock, mcp_answer(body))
            elif path == "/mcp-many":
                _send_json(sock, mcp_answer(body, many_tools))
            elif path == "/keys":
                _send_json(sock, keys())
            elif (make := BY_PATH.get(path)) is not None:
                _send_json(sock, make())
            else:
                _answer(sock, _name(body), bodies)
    except (OSError, EOFError):
        pass  # the gateway has closed it


def _echo(sock: socket.socket, key: str) -> None:
    """A WebSocket that sends each message back."""
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
    head = "\r\n".join([*lines, f"Sec-WebSocket-Accept: {accept(key)}", "", ""])
    sock.sendall(head.encode())
    peer = Peer(sock, client=False)
    while True:
        message = peer.next()
        if message.opcode == TEXT:
            peer.send(TEXT, message.data)


def _send_json(sock: socket.socket, body: bytes) -> None:
    sock.sendall(_JSON % len(body) + body)


def _name(body: bytes) -> bytes:
    match = _MODEL.search(body, 0, 1000) or _MODEL.search(body, max(0, len(body) - 1000))
    return match[1] if match is not None else b""


def _answer(sock: socket.socket, name: bytes, bodies: dict[bytes, bytes]) -> None:
    if (raw := (RAW | WIRE | SHAPES | BOUNDS).get(name.decode())) is not None:
        for piece in raw():
            sock.sendall(piece)
        sock.close()
        return
    stream = STREAMS.get(name.decode())
    if stream is None:
        _send_json(sock, bodies.get(name) or small())
        return
    sock.sendall(_EVENTS)
    for piece in stream():
        sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
    sock.sendall(b"0\r\n\r\n")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
