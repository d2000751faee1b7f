"""The upstream: it reads any request, and answers by the name of the model in it.

python -m benchmarks.stall.upstream PORT
"""

from __future__ import annotations

import re
import socket
import sys
import threading

from benchmarks.stall.answers import ANSWERS, STREAMS, small

_MODEL = re.compile(rb'"model": ?"([a-z-]+)"')
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
            _answer(sock, _name(body), bodies)
    except OSError:
        pass  # the gateway has closed it


def _name(body: bytes) -> bytes:
    match = _MODEL.search(body, 0, 1000) or _MODEL.search(body, max(0, len(body) - 1000))
    return match[1] if match is not None else b""


def _answer(sock: socket.socket, name: bytes, bodies: dict[bytes, bytes]) -> None:
    stream = STREAMS.get(name.decode())
    if stream is None:
        body = bodies.get(name) or small()
        sock.sendall(_JSON % len(body) + body)
        return
    sock.sendall(_EVENTS)
    for piece in stream():
        sock.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
    sock.sendall(b"0\r\n\r\n")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
