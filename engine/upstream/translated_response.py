"""The response of a target that speaks another language of chat, in the caller's language.

It has the members of UpstreamResponse that relaying uses, so that later steps do not depend on the
translation. An answer that is read at once and becomes a stream may end with an error: its JSON
without an event, which the Cleaner of that stream reports.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from engine import dialects
from engine.dialects import Dialect
from engine.dialects.interface.error_forms import error_document, error_text, plain_text
from engine.dialects.interface.rate_limits import translate_limits
from engine.dialects.interface.streams import Framing
from engine.exchange.interfaces import Socket
from engine.metering.readers import reader
from engine.relay.framing import framing_of
from engine.relay.sse import NotAnEvent
from engine.translations import AnyExchange
from engine.translations.neutral.events import BrokenAnswer, UpstreamError, UsageSource
from engine.translations.translation import MAX_ANSWER
from engine.upstream.amazon_response import error_code
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import MAX_ERROR, IncomingResponse, read_body
from engine.upstream.first_content import EVENT_STREAM, Misframed, media_type
from engine.upstream.translated_errors import TranslatedErrors, invalid_answer
from engine.upstream.translated_events import TranslatedEvents
from engine.upstream.wrapped_response import UNDECODABLE, WrappedResponse
from engine.values.content_coding import decode_body
from engine.values.redaction import Redaction
from engine.values.usage import Usage

_JSON = "application/json"
_BODY_HEADERS = ("content-", "transfer-encoding", "etag", "digest", "repr-digest", "cache-control")


def translated_response(
    response: IncomingResponse,
    exchange: AnyExchange,
    dialect: Dialect,
    request_id: str,
    redaction: Redaction,
    clock: Callable[[], float] = time.time,
    *,
    cache_counted_twice: bool = False,
) -> TranslatedBody | TranslatedStream:
    """The response to a translated request, in the caller's dialect: a TranslatedStream if the
    caller gets the upstream's stream event by event, else a TranslatedBody. `redaction` removes the
    gateway's credentials from errors; `clock` returns Unix seconds. `cache_counted_twice`: the
    upstream adds the tokens of the prompt cache to an input that includes them."""
    request = exchange.request
    sends_events = request.stream and not request.as_list and response.status < 300
    is_stream = media_type(response) == EVENT_STREAM
    kind = TranslatedStream if sends_events and is_stream else TranslatedBody
    translated = kind(
        response,
        exchange,
        dialect,
        request_id,
        redaction,
        clock,
        is_stream=is_stream,
        sends_events=sends_events,
        cache_counted_twice=cache_counted_twice,
    )
    if isinstance(translated, TranslatedBody) and response.status >= 400:
        translated.translate_error()
    return translated


class _TranslatedResponse(WrappedResponse):
    """What a TranslatedBody and a TranslatedStream have in common: `status` and `headers` in the
    dialect of the caller, and the events of a stream.

    `usage` reads the usage in the upstream's format, for the ledger and for the caller.
    `is_stream`: the upstream sends server-sent events; `sends_events`: the caller gets events.
    """

    _stream: TranslatedEvents | None = None

    def __init__(
        self,
        response: IncomingResponse,
        exchange: AnyExchange,
        dialect: Dialect,
        request_id: str,
        redaction: Redaction,
        clock: Callable[[], float],
        *,
        is_stream: bool,
        sends_events: bool,
        cache_counted_twice: bool,
    ) -> None:
        status = response.status
        target = dialects.get(exchange.translation.target.dialect)
        headers = [pair for pair in response.headers if not pair[0].startswith(_BODY_HEADERS)]
        headers = translate_limits(headers, target.rate_limits, dialect.rate_limits, clock())
        headers.append(
            ("content-type", f"{EVENT_STREAM}; charset=utf-8" if sends_events else _JSON)
        )
        super().__init__(response, headers)
        self._exchange = exchange
        self._errors = TranslatedErrors(dialect, request_id, redaction, headers)
        self._ended = 300 <= status < 400  # a redirect, which is not followed
        self.status = 200 if 200 <= status < 300 else status
        if is_stream:
            self._reader = reader(target.meter, EVENT_STREAM)
        else:
            self._reader = reader(target.meter, _JSON, self._encoding)
        self.usage = self.usage or self._reader
        self._usage_source = self._reader.usage
        if cache_counted_twice:
            self._usage_source = partial(_once_in_the_cache, self._reader.usage)
        if is_stream and status < 400:
            heartbeat = dialect.heartbeat if sends_events else b""
            self._stream = self._open_events(target, heartbeat, clock)

    def detach(self) -> tuple[Socket, bytes]:
        """Raise ValueError: a translated response is never a 101."""
        raise ValueError("a translated response is not a WebSocket")

    def _open_events(
        self, target: Dialect, heartbeat: bytes, clock: Callable[[], float]
    ) -> TranslatedEvents | None:
        if self._encoding.strip().lower() not in ("", "identity"):
            self._failure = invalid_answer(UNDECODABLE)
            return None
        translator = self._exchange.stream(self._usage_source)
        return TranslatedEvents(translator, target, self._reader, self._errors, heartbeat, clock)

    def _read_stream(
        self,
        events: TranslatedEvents,
        beat: float | None,
        on_data: Callable[[bytes], None] | None = None,
    ) -> bytes:
        """The next bytes of the upstream's stream, `b""` at its end."""
        try:
            data = self._response.read(on_data, beat)
        except UpstreamFailure:
            if not events.ended:
                raise
            data = b""  # the answer was complete before the connection broke off
        if not data:
            self._ended = True
            self._response.close()
        return data


class TranslatedBody(_TranslatedResponse):
    """A body in the dialect of the caller, by `read`: one answer, an array, or an error, which is
    read at once."""

    events: None = None
    _body = b""
    _has_begun = False

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        return self._ended and not self._body and self._failure is None

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next part of the translated body, `b""` at the end; `beat` as in
        `UpstreamResponse.read`, `on_data` is not called. Raises UpstreamFailure (also
        InvalidAnswer) and Silence.
        """
        while not self._body:
            if self._failure is not None or self._ended:
                self._response.close()
                if self._failure is not None:
                    raise self._failure
                return b""
            if self._stream is None:
                self._read_whole(beat)
            else:
                self._read_events(self._stream, beat)
        body, self._body = self._body, b""
        return body

    def _read_events(self, events: TranslatedEvents, beat: float | None) -> None:
        """Read the next part of a stream that becomes one answer, or the items of an array. An
        error is the last item of an array that has begun, and the array breaks off."""
        data = self._read_stream(events, beat)
        self._body = events.feed(data) if data else events.finish()
        failure = events.failure
        if isinstance(failure, NotAnEvent):
            if self._exchange.request.as_list and (self._has_begun or self._body):
                self._failure = invalid_answer("the upstream's answer broke off with an error")
                self._body += b",\n"
            self._body += failure.text
            self._ended = True
        elif failure is not None:
            self._failure = failure
        self._has_begun = self._has_begun or bool(self._body)

    def _read_whole(self, beat: float | None) -> None:
        """Read and translate an answer in one piece."""
        text = self._read_all(MAX_ANSWER, beat, self._reader.feed)
        self._ended = True
        try:
            self._body = self._exchange.answer(text, self._usage_source)
        except UpstreamError as error:
            self._body = self._errors.document(error)
        except BrokenAnswer as error:
            if framing_of(text) is Framing.EVENTS:
                raise Misframed(bytes(self._received)) from None
            self._failure = self._errors.invalid_answer(error)

    def translate_error(self) -> None:
        """Read and translate the body of an error, which also decides the status."""
        body, complete = read_body(self._response, MAX_ERROR)
        text = decode_body(self._encoding, body) if complete else None
        document = error_document(text or b"")
        error = self._exchange.error(self.status, document)
        error.message = error.message or error_text(document) or plain_text(text or b"")
        error.code = error.code or error_code(self._response)
        self.status = error.status
        self._body = self._errors.document(error)
        self._ended = True


class TranslatedStream(_TranslatedResponse):
    """A stream for a caller who gets it event by event: `read` returns the upstream's bytes, and
    `events` translates them, as the Cleaner filters those of a relayed stream."""

    @property
    def events(self) -> TranslatedEvents | None:
        """The filter for the bytes; None if they cannot be decoded: then `read` raises."""
        return self._stream

    @property
    def is_complete(self) -> bool:
        """Whether all of the stream has been read."""
        return self._ended and self._stream is not None and self._stream.failure is None

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next bytes of the upstream's stream, `b""` at the end."""
        if self._stream is None:
            self._response.close()
            assert self._failure is not None
            raise self._failure
        return self._read_stream(self._stream, beat, on_data)


def _once_in_the_cache(source: UsageSource) -> Usage | None:
    """The usage of an upstream that counts the tokens of the prompt cache twice."""
    usage = source()
    return None if usage is None else usage.without_cache_twice()
