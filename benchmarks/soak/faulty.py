"""An upstream that goes wrong: `python -m benchmarks.soak.faulty PORT`. The model's name says how.

`bad-500` answers so, `bad-garbage` with what is no HTTP, `bad-reset` not at all, `bad-stall` with
nothing until the other side leaves, `bad-cut` and `bad-frozen` with half a stream, which is then
cut or goes silent.
"""

from __future__ import annotations

import re
import socket
import struct
import sys
from typing import Any

from gevent.server import StreamServer

FAULTS = ("bad-500", "bad-garbage", "bad-reset", "bad-stall", "bad-cut", "bad-frozen")
_MODEL = re.compile(rb'"model":"([\w-]+)"')
_EVENT = (
    b'data: {"id":"c","object":"chat.completion.chunk",'
    b'"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
)
_SAYS = {
    "bad-500": b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nsorry",
    "bad-garbage": b"\x00\xffthis is no HTTP\r\n\r\n" * 20,
    "bad-cut": b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n" % (len(_EVENT), _EVENT),
}
_SAYS["bad-frozen"] = _SAYS["bad-cut"]


def answer(sock: Any, _: object) -> None:
    """Do to one request what its model says, and end the connection."""
    match = _MODEL.search(sock.recv(65536))
    kind = match[1].decode() if match else "bad-reset"
    if kind in _SAYS:
        sock.sendall(_SAYS[kind])
    if kind in ("bad-stall", "bad-frozen"):
        while sock.recv(65536):
            pass
    if kind in ("bad-reset", "bad-cut"):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


if __name__ == "__main__":
    StreamServer(("127.0.0.1", int(sys.argv[1])), answer, backlog=1024).serve_forever()
