"""An upstream that has the Responses API over a WebSocket, as a `Speak` of `recording.py`.

It keeps the conversations of a socket, and asks a model that answers over HTTP with the whole of
each. A request whose `previous_response_id` it does not know is an error, as at the vendor.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.frames import CLOSE, TEXT, Peer, accept
from tests.support.recording import ReceivedRequest, Speak

Json = dict[str, Any]

_NOT_FOUND = {
    "type": "error",
    "status": 400,
    "error": {
        "type": "invalid_request_error",
        "code": "previous_response_not_found",
        "message": "not found",
        "param": "previous_response_id",
    },
}


@dataclass
class ResponsesUpstream:
    """`model` answers; `heard` are the messages as they came, `sockets` the number of upgrades.
    `on_request` gets each request with its whole input."""

    model: Speak
    on_request: Callable[[ReceivedRequest], None] = lambda received: None
    heard: list[Json] = field(default_factory=list)
    sockets: int = 0
    open: list[tuple[socket.socket, dict[str, list[Any]]]] = field(default_factory=list)

    def forget(self) -> None:
        """Forget all conversations."""
        for _, kept in self.open:
            kept.clear()

    def hang_up(self) -> None:
        """Close all sockets, as a server does that restarts."""
        for sock, _ in self.open:
            sock.shutdown(socket.SHUT_RDWR)

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        if not received.values("sec-websocket-key"):
            self.model(received, sock)
            return
        self.sockets += 1
        [key] = received.values("sec-websocket-key")
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Accept: {accept(key)}", "", ""]
        sock.sendall("\r\n".join(lines).encode())
        try:
            self._converse(Peer(sock, client=False), received)
        except EOFError:
            sock.close()

    def _converse(self, peer: Peer, upgrade: ReceivedRequest) -> None:
        kept: dict[str, list[Any]] = {}
        self.open.append((peer.sock, kept))
        while (frame := peer.next()).opcode != CLOSE:
            if frame.opcode != TEXT:
                continue
            message = json.loads(frame.data)
            self.heard.append(dict(message))
            previous = message.pop("previous_response_id", None)
            if previous is not None and previous not in kept:
                peer.text(json.dumps(_NOT_FOUND))
                continue
            given = message["input"]
            given = [{"role": "user", "content": given}] if isinstance(given, str) else given
            message["input"] = [*kept.get(previous or "", []), *given]
            body = json.dumps({**message, "stream": True}).encode()
            request = ReceivedRequest("POST /v1/responses HTTP/1.1", upgrade.headers, body)
            self.on_request(request)
            self.model(request, _FrameSocket(peer, kept, message["input"]))  # type: ignore[arg-type]


class _FrameSocket:
    """A socket to a model: the events of its response become frames, and its end is remembered."""

    def __init__(self, peer: Peer, kept: dict[str, list[Any]], items: list[Any]) -> None:
        self.peer, self._kept, self._items = peer, kept, items

    def sendall(self, data: bytes) -> None:
        for event in data.partition(b"\r\n\r\n")[2].split(b"\n\n"):
            _, found, text = event.partition(b"data: ")
            if not found:
                continue
            document = json.loads(text)
            if document["type"] == "response.completed":
                response = document["response"]
                self._kept[response["id"]] = [*self._items, *response["output"]]
            self.peer.send(TEXT, text)

    def recv(self, size: int) -> bytes:
        return self.peer.sock.recv(size)
