"""A response over a WebSocket, in the form of a response over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Self

import orjson

from engine.exchange.member_protocols import Socket, UsageReader
from engine.upstream.client.deadlines import Deadlines
from engine.upstream.client.failures import (
    Cancelled,
    FirstByteTimeout,
    ProtocolFailure,
    Reset,
    Silence,
    Truncated,
    UpstreamFailure,
)
from engine.upstream.websockets.message_stream import MessageStream
from engine.values.event_json import json_object, json_or_none
from engine.values.trees import Json

_TYPE = re.compile(rb'\s*\{\s*"type"\s*:\s*"([a-z0-9_.]+)"')
_LAST = frozenset({b"response.completed", b"response.incomplete", b"response.failed", b"error"})
_EVENTS = [("content-type", "text/event-stream")]
_JSON = ("content-type", "application/json")
_HEADERS = ("retry-after", "x-request-id")
"""Headers of an error that stand in its message."""

OnEnd = Callable[[Json | None], None]
"""Called at the last event with its response; None after an error."""


class SocketResponse:
    """A response, see `client.response.IncomingResponse`. An `error` in place of the first event is
    a response with its status; `error_code` is its code then."""

    length: int | None = None
    usage: UsageReader | None = None
    error_code = ""

    def __init__(self, stream: MessageStream, deadlines: Deadlines, on_end: OnEnd) -> None:
        self.status = 200
        self.headers: list[tuple[str, str]] = list(_EVENTS)
        self._stream, self._deadlines, self._on_end = stream, deadlines, on_end
        self._data: list[bytes] = []
        self._items: list[bytes] = []
        self._has_ended = self._is_closed = False
        self._failure: UpstreamFailure | None = None

    def begin(self) -> Self:
        """Wait for the first message. Raises UpstreamFailure."""
        end = self._deadlines.now() + self._deadlines.timeouts.first_byte
        try:
            while (message := self._take(end)) is None:
                pass
        except BaseException:
            self._stream.close()
            raise
        document = json_or_none(message) if _kind(message) == b"error" else None
        if isinstance(document, dict):
            self._set_error(document)
        else:
            self._add(message)
        return self

    def _take(self, end: float) -> bytes | None:
        seconds, failure = self._deadlines.until(end, FirstByteTimeout)
        assert issubclass(failure, UpstreamFailure)
        try:
            message = self._stream.take(seconds)
        except Reset as reset:
            reset.request_sent = True
            raise
        if message is None:
            timeout = failure()
            timeout.request_sent = True
            raise timeout
        return message

    def _set_error(self, document: Json) -> None:
        """The response for an error that came instead of one."""
        error, status = document.get("error"), document.get("status")
        error = error if isinstance(error, dict) else document
        self.error_code = str(error.get("code") or "")
        self.status = status if isinstance(status, int) and 400 <= status <= 599 else 502
        headers = document.get("headers")
        fields = headers.items() if isinstance(headers, dict) else ()
        self.headers = [_JSON, *((k, str(v)) for k, v in fields if k.lower() in _HEADERS)]
        self._data.append(orjson.dumps({"error": error}))
        self._end(None)

    def header(self, name: str) -> str | None:
        return dict(reversed(self.headers)).get(name)

    @property
    def is_complete(self) -> bool:
        return self._has_ended and not self._data

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        if not self._data and not self._has_ended:
            self._receive(beat)
        data, self._data = b"".join(self._data), []
        return data

    def _receive(self, beat: float | None) -> None:
        """Wait for the next messages, within the idle timeout."""
        self._raise_failure()
        seconds, failure = self._deadlines.idle(beat)
        try:
            message = None if self._is_closed else self._stream.take(seconds)
        except Reset:
            self._fail(Truncated())
            raise Truncated().after_start() from None
        if self._is_closed:
            raise Cancelled
        if message is None:
            if failure is Silence:
                raise Silence
            timeout = failure()
            assert isinstance(timeout, UpstreamFailure)
            self._fail(timeout.after_start())
            raise timeout
        self._add(message)
        while self._stream.has_message and not self._has_ended:
            self._add(self._stream.take(0) or b"")
        self._raise_failure()

    def _raise_failure(self) -> None:
        """Raise the failure, behind what came before it."""
        if self._failure is not None and not self._data:
            raise self._failure

    def _add(self, message: bytes) -> None:
        """Add a message as an event."""
        kind = _kind(message)
        if not kind:
            name = json_object(message).get("type")
            if not isinstance(name, str) or not name.isprintable():
                self._fail(ProtocolFailure("a message has no type").after_start())
                return
            kind = name.encode()
        if b"\n" in message or b"\r" in message:
            message = orjson.dumps(json_or_none(message))
        self._data.append(b"event: %b\ndata: %b\n\n" % (kind, message))
        if kind == b"response.output_item.done":
            self._items.append(message)
        elif kind in _LAST:
            self._finish(kind, message)

    def _finish(self, kind: bytes, message: bytes) -> None:
        document = json_object(message)
        response = document.get("response")
        if kind in (b"error", b"response.failed") or not isinstance(response, dict):
            self._end(None)
            return
        if not response.get("output"):
            events = map(json_object, self._items)
            items = [event["item"] for event in events if "item" in event]
            response = {**response, "output": items}
        self._end(response)

    def _end(self, response: Json | None) -> None:
        self._has_ended = True
        self._on_end(response)

    def _fail(self, failure: UpstreamFailure) -> None:
        self._failure = failure
        self._stream.close()

    def unread(self, data: bytes) -> None:
        if data:
            self._data.insert(0, data)

    def close(self) -> None:
        """End the response. One that has not ended is cancelled by the close of its socket."""
        self._is_closed = True
        if not self._has_ended:
            self._stream.close()

    def detach(self) -> tuple[Socket, bytes]:
        raise ValueError("only a response of status 101 gives its socket away")


def _kind(message: bytes) -> bytes:
    """The type of a message that begins with it, as nearly all do; else b""."""
    match = _TYPE.match(message)
    return match[1] if match is not None else b""
