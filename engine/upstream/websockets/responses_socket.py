"""The Responses API over a WebSocket to an upstream, as a response of server-sent events.

A request of a caller's socket goes over a socket to a target that speaks it, so that the upstream
keeps the conversation: the items that it has are left out, and named by `previous_response_id`. Its
messages are read as the events that they would be over HTTP, so that all that follows (errors,
retries, usage, edits) is the same. A request whose upgrade is refused goes by HTTP.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import orjson

from engine.exchange.member_protocols import Headers
from engine.objects.response_items import items_of, join_items, output_items
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.handshake import answer_to, new_key
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Deadlines, Timeouts
from engine.upstream.client.failures import ProtocolFailure, Reset
from engine.upstream.client.response import IncomingResponse
from engine.upstream.websockets.message_stream import MessageStream
from engine.upstream.websockets.socket_response import SocketResponse
from engine.values.trees import Json
from engine.values.upstream_request import UpstreamRequest

_PATH = "/responses"
_MAX_MESSAGE = 64 * 1024 * 1024
"""Bytes of one event; images are sent as events of several megabytes."""

_NO_WEBSOCKET = frozenset({400, 404, 405, 426, 501})
"""Statuses that say that there is no WebSocket at an address, for this long:"""

_REFUSED_SECONDS = 300.0
_CREDENTIALS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key"})
_OF_HTTP = frozenset({"content-type", "content-encoding", "accept"})
_STALE = frozenset({"previous_response_not_found", "websocket_connection_limit_reached"})
"""Errors after which another socket, and all items, heal."""


class _Conversation(NamedTuple):
    """What an upstream has of a conversation: the id of its last response, and the items up to its
    end as they stand in `input`."""

    response: str
    items: bytes


class RefusedUpgrades:
    """The clients of a worker whose upstream has refused a WebSocket, for a while."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._until: WeakKeyDictionary[Client, float] = WeakKeyDictionary()
        self._clock = clock

    def add(self, client: Client) -> None:
        """The upstream has refused one now."""
        self._until[client] = self._clock() + _REFUSED_SECONDS

    def __contains__(self, client: Client) -> bool:
        return self._until.get(client, 0.0) > self._clock()


_Address = tuple[Client, str, tuple[tuple[str, str], ...]]
"""Where a socket goes: the target of its requests, and the credential that it was opened with."""


class UpstreamSockets:
    """The sockets to upstreams of one lane of a caller's socket, one for each address. A request
    that is hedged goes by HTTP while the first one is answered."""

    def __init__(self, refused: RefusedUpgrades) -> None:
        self._refused = refused
        self._sockets: dict[_Address, UpstreamSocket] = {}

    def send(
        self, client: Client, timeouts: Timeouts, request: UpstreamRequest, timeout: float
    ) -> IncomingResponse:
        """The response to a request, over a socket if it can be, within `timeout` seconds. Raises
        UpstreamFailure."""
        path, body = request.path, request.body
        fits = request.method == "POST" and path.endswith(_PATH)
        if fits and isinstance(body, bytes) and client not in self._refused:
            credentials = tuple(pair for pair in request.headers if pair[0] in _CREDENTIALS)
            address = client, request.target, credentials
            socket = self._sockets.get(address)
            if socket is None:
                socket = self._sockets[address] = UpstreamSocket(client, timeouts)
            if socket.is_busy:
                return _by_http(client, request, timeout)
            response = socket.send(request, orjson.loads(body), timeout)
            if response is not None:
                return response
            if socket.has_no_websocket:
                self._refused.add(client)
        return _by_http(client, request, timeout)

    def close(self) -> None:
        """Close all sockets. What is under way breaks off."""
        for socket in self._sockets.values():
            socket.close()
        self._sockets.clear()


def _by_http(client: Client, request: UpstreamRequest, timeout: float) -> IncomingResponse:
    return client.send(request.method, request.target, request.headers, request.body, timeout)


class UpstreamSocket:
    """A socket to one upstream, opened at its first request and again after it has closed.
    `has_no_websocket`: the last upgrade was refused with a status that says so."""

    def __init__(self, client: Client, timeouts: Timeouts) -> None:
        self._client, self._timeouts = client, timeouts
        self._stream: MessageStream | None = None
        self._conversation: _Conversation | None = None
        self._is_opening = self._is_answering = False
        self.has_no_websocket = False

    @property
    def is_busy(self) -> bool:
        """Whether it answers a request."""
        is_open = self._stream is not None and not self._stream.has_ended
        return self._is_opening or (is_open and self._is_answering)

    def send(
        self, request: UpstreamRequest, content: Json, timeout: float
    ) -> SocketResponse | None:
        """The response to a request with this content; None if the upgrade is refused. Raises
        UpstreamFailure."""
        deadlines = Deadlines(self._timeouts, time.monotonic, timeout)
        if (stream := self._stream) is not None and not stream.has_ended:
            try:
                response = self._ask(stream, content, deadlines)
            except Reset:
                pass  # it was closed while it was idle
            else:
                if response.error_code not in _STALE:
                    return response
            self.close()
        self._is_opening = True
        try:
            stream = self._open(request, timeout)
        finally:
            self._is_opening = False
        self._stream = stream
        return None if stream is None else self._ask(stream, content, deadlines)

    def close(self) -> None:
        """Close the socket."""
        if self._stream is not None:
            self._stream.close()
        self._stream = self._conversation = None

    def _ask(self, stream: MessageStream, content: Json, deadlines: Deadlines) -> SocketResponse:
        """Send a request, and wait for the first event of its response."""
        items = items_of(content.get("input")) or None
        message = self._message(content, items)

        def end(response: Json | None) -> None:
            self._is_answering = False
            self._conversation = None if response is None else _after(response, items)

        self._conversation, self._is_answering = None, True
        stream.send(message)
        return SocketResponse(stream, deadlines, end).begin()

    def _message(self, content: Json, items: bytes | None) -> bytes:
        """The message of a request: without the items that the upstream has, if it has any."""
        message = {name: value for name, value in content.items() if name != "stream"}
        conversation = self._conversation
        if conversation is None or items is None or "previous_response_id" in content:
            return orjson.dumps({"type": "response.create", **message})
        begin = conversation.items + b","
        if not items.startswith(begin):
            return orjson.dumps({"type": "response.create", **message})
        del message["input"]
        previous = {"previous_response_id": conversation.response}
        head = orjson.dumps({"type": "response.create", **previous})
        members = orjson.dumps(message)[1:-1]
        comma = b"," if members else b""
        return b'%b,"input":[%b]%b%b}' % (head[:-1], items[len(begin) :], comma, members)

    def _open(self, request: UpstreamRequest, timeout: float) -> MessageStream | None:
        """Open the socket; None if the upstream refuses that. Raises UpstreamFailure."""
        key = new_key()
        headers: Headers = [pair for pair in request.headers if pair[0] not in _OF_HTTP]
        headers += [
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", key),
        ]
        response = self._client.send("GET", request.target, headers, None, timeout)
        self.has_no_websocket = response.status in _NO_WEBSOCKET
        if response.status != 101:
            response.close()
            return None
        if response.header("sec-websocket-accept") != answer_to(key):
            response.close()
            raise ProtocolFailure("its Sec-WebSocket-Accept is wrong").after_start()
        sock, first = response.detach()
        channel = Channel(sock, client=False, limit=_MAX_MESSAGE, first=first)
        return MessageStream(channel, sock)


def _after(response: Json, items: bytes | None) -> _Conversation | None:
    """The conversation after a response to a request with these items."""
    name, output = response.get("id"), response.get("output")
    if items is None or not isinstance(name, str) or not isinstance(output, list) or not output:
        return None
    return _Conversation(name, join_items(items, output_items(output)))
