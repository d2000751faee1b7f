"""The response of a target that speaks another language of chat, in the caller's language.

It has the members of an UpstreamResponse that relaying needs, so nothing after the attempt knows of
the translation. An error inside a stream is written as its JSON alone: the relay takes that for a
stream that broke off with this error (`engine.relay.sse.NotAnEvent`).
"""

from __future__ import annotations

from collections.abc import Callable

import orjson

from engine import dialects
from engine.dialects import Dialect
from engine.exchange.interfaces import Socket
from engine.relay.sse import Cleaner, NotAnEvent
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.translations.translation import StreamTranslator, TranslatedExchange
from engine.upstream.client.failures import ProtocolFailure
from engine.upstream.client.response import IncomingResponse
from engine.upstream.first_content import media_type
from engine.values.content_coding import decode_body
from engine.values.errors import EventTooLarge, GatewayError
from engine.values.event_json import json_or_none

LARGEST = 64_000_000
"""Bytes of an answer in one piece, or of one that is collected for such an answer."""

_LARGEST_ERROR = 65_536
_BODY_HEADERS = ("content-", "transfer-encoding", "etag", "digest", "repr-digest", "cache-control")


class TranslatedResponse:
    """A response in the dialect of the caller: `status`, `headers`, and the body by `read`."""

    length: int | None = None

    def __init__(
        self,
        response: IncomingResponse,
        exchange: TranslatedExchange,
        dialect: Dialect,
        request_id: str,
    ) -> None:
        self._response = response
        self._exchange = exchange
        self._dialect = dialect
        self._request_id = request_id
        self.status = response.status
        self.headers = [p for p in response.headers if not p[0].startswith(_BODY_HEADERS)]
        self._body = b""
        self._ended = False
        self._failure: Exception | None = None
        self._events: _Events | None = None
        self._size = 0
        if response.status >= 400:
            self._translate_error()
        elif media_type(response) == "text/event-stream":
            target = dialects.get(exchange.translation.target.dialect)
            self._events = _Events(exchange.stream(), target)
        streams = exchange.request.stream and response.status < 400
        kind = "text/event-stream; charset=utf-8" if streams else "application/json"
        self.headers.append(("content-type", kind))

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in any case."""
        low = name.lower()
        return next((value for field, value in self.headers if field == low), None)

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        return self._ended and not self._body and self._failure is None

    def read(self, passing: Callable[[bytes], None] | None = None) -> bytes:
        """The next part of the body, `b""` at the end; `passing` as in `UpstreamResponse.read`.

        Raises UpstreamFailure, ProtocolFailure among them for an answer that is not one.
        """
        while True:
            if self._body:
                body, self._body = self._body, b""
                return body
            if self._failure is not None:
                self._response.close()
                raise self._failure
            if self._ended:
                self._response.close()
                return b""
            if self._events is None:
                self._read_whole()
            else:
                self._read_events(self._events, passing)

    def silent(self, seconds: float) -> bool:
        """Whether nothing arrives for `seconds`."""
        return not (self._body or self._ended or self._failure) and self._response.silent(seconds)

    def close(self) -> None:
        """Release the upstream's connection."""
        self._response.close()

    def detach(self) -> tuple[Socket, bytes]:
        """Only a 101 gives its socket away, and no chat has one."""
        raise ValueError("a translated response is no WebSocket")

    def _read_events(self, events: _Events, passing: Callable[[bytes], None] | None) -> None:
        def translate(data: bytes) -> None:
            """Called by the event loop."""
            assert passing is not None
            if output := self._translated(events.feed, data):
                passing(output)
            if self._failure is not None:
                raise _Failed

        try:
            data = self._response.read(None if passing is None else translate)
        except _Failed:
            return
        if data:
            self._body += self._translated(events.feed, data)
        else:
            self._body += self._translated(events.finish)
            self._ended = True

    def _read_whole(self) -> None:
        body = self._read_all(LARGEST)
        encoding = self._response.header("content-encoding") or ""
        text = decode_body(encoding, body)
        if text is None:
            raise ProtocolFailure("the upstream's answer cannot be decoded")
        self._body = self._translated(self._exchange.answer, text)
        self._ended = True

    def _translated(self, translate: Callable[..., bytes], *data: bytes) -> bytes:
        """What `translate` returns. An error is kept until what preceded it has been read."""
        if self._failure is not None or self._ended:
            return b""
        try:
            return translate(*data)
        except _Interrupted as interrupted:
            return interrupted.output + self._end_with(interrupted.error)
        except (BrokenAnswer, UpstreamError, EventTooLarge) as error:
            return self._end_with(error)

    def _end_with(self, error: Exception) -> bytes:
        if isinstance(error, UpstreamError):
            self._ended = True
            return self._error_document(error)
        self._failure = ProtocolFailure(str(error))
        return b""

    def _read_all(self, limit: int) -> bytes:
        pieces, size = [], 0
        while data := self._response.read():
            pieces.append(data)
            size += len(data)
            if size > limit:
                raise ProtocolFailure(f"the upstream's answer has over {limit} bytes")
        return b"".join(pieces)

    def _translate_error(self) -> None:
        body = self._read_all(_LARGEST_ERROR)
        text = decode_body(self._response.header("content-encoding") or "", body)
        error = self._exchange.error(self.status, json_or_none(text or b""))
        self.status = error.status
        self._body = self._error_document(error)
        self._ended = True
        if error.retry_after is not None and self.header("retry-after") is None:
            self.headers.append(("retry-after", f"{error.retry_after:.0f}"))

    def _error_document(self, error: UpstreamError) -> bytes:
        message = error.message or f"The upstream answered {error.status}."
        status = error.status if error.status >= 400 else 502
        ours = GatewayError(status, error.code or "upstream_error", message)
        return orjson.dumps(self._dialect.error(ours, self._request_id)) + b"\n"


class _Failed(Exception):
    """Ends a wait for the upstream: what arrived cannot be translated."""


class _Interrupted(Exception):
    """A stream has an error behind events that were translated."""

    def __init__(self, output: bytes, error: Exception) -> None:
        super().__init__()
        self.output, self.error = output, error


class _Events:
    """The bytes of an upstream's stream, cleaned and translated event by event."""

    def __init__(self, translator: StreamTranslator, target: Dialect) -> None:
        self._translator = translator
        self._target = target
        self._cleaner = Cleaner(target.stream)

    def feed(self, data: bytes) -> bytes:
        """What the events come to that `data` completes."""
        return self._translate(self._cleaner.feed(data))

    def finish(self) -> bytes:
        """What the end of the stream comes to."""
        output = self._translate(self._cleaner.finish())
        try:
            return output + self._translator.end()
        except BrokenAnswer as error:
            raise _Interrupted(output, error) from error

    def _translate(self, events: bytes) -> bytes:
        output = b""
        try:
            for event in events.split(b"\n\n"):
                if data := _data(event):
                    output += self._translator.event(data)
            if self._cleaner.foreign:
                raise self._foreign_error(NotAnEvent(self._cleaner.foreign))
        except (BrokenAnswer, UpstreamError) as error:
            raise _Interrupted(output, error) from error
        return output

    def _foreign_error(self, text: NotAnEvent) -> Exception:
        if self._target.is_error_event(text.document):
            error = self._target.stream_error(text.document)
            if error is not None:
                message = error.document.get("error", {}).get("message")
                return UpstreamError(error.status, message or "")
        return BrokenAnswer(str(text))


def _data(event: bytes) -> bytes:
    """The data of a clean event."""
    if event.startswith(b"data: ") and b"\n" not in event:
        return event[6:]  # nearly every event
    return b"\n".join(line[6:] for line in event.split(b"\n") if line.startswith(b"data: "))
