"""The response of a target that speaks another language of chat, in the caller's language.

It is a FilteredResponse, so that later steps do not depend on the translation.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from engine import dialects
from engine.dialects import Dialect
from engine.dialects.interface.error_texts import error_document, error_text, plain_text
from engine.dialects.interface.rate_limits import translate_limits
from engine.dialects.interface.streams import Framing
from engine.exchange.member_protocols import Headers
from engine.metering.readers import Reader, reader
from engine.relay.filter import UNDECODABLE, Filter, unreadable
from engine.relay.framing import framing_of
from engine.relay.whole_body import WholeBody
from engine.translations import AnyExchange
from engine.translations.neutral.events import BrokenAnswer, UpstreamError, UsageSource
from engine.translations.translation import MAX_ANSWER
from engine.upstream.client.response import (
    EVENT_STREAM,
    JSON,
    MAX_ERROR,
    IncomingResponse,
    media_type,
    read_body,
)
from engine.upstream.responses.error_response import error_code
from engine.upstream.responses.filtered_response import FilteredResponse
from engine.upstream.responses.first_content import Misframed
from engine.upstream.responses.translated_events import (
    ArrayOfEvents,
    TranslatedErrors,
    TranslatedEvents,
)
from engine.values.content_coding import GZIP_START, coding_of, decode_body
from engine.values.redaction import Redaction
from engine.values.usage import Usage

_BODY_HEADERS = ("content-", "transfer-encoding", "etag", "digest", "repr-digest", "cache-control")

_PAGE = "the upstream's answer is HTML or XML, not JSON"

_EVENTS = f"{EVENT_STREAM}; charset=utf-8"


def translated_response(
    response: IncomingResponse,
    exchange: AnyExchange,
    dialect: Dialect,
    request_id: str,
    redaction: Redaction,
    clock: Callable[[], float] = time.time,
    *,
    cache_counted_twice: bool = False,
) -> FilteredResponse:
    """The response to a translated request, in the caller's dialect: `status`, `headers` and body.

    Its `usage` reads the usage in the upstream's format, for the ledger and for the caller.
    `redaction` removes the gateway's credentials from errors; `clock` returns Unix seconds.
    `cache_counted_twice`: the upstream adds the tokens of the prompt cache to an input that
    includes them. An error that the upstream reports in its answer ends the body as a NotAnEvent.
    """
    request, status = exchange.request, response.status
    target = dialects.get(exchange.translation.target.dialect)
    sends_events = request.stream and not request.as_list and status < 300
    headers = [pair for pair in response.headers if not pair[0].startswith(_BODY_HEADERS)]
    headers = translate_limits(headers, target.rate_limits, dialect.rate_limits, clock())
    # The first one, as it is looked for.
    headers.insert(0, ("content-type", _EVENTS if sends_events else JSON))
    errors = TranslatedErrors(dialect, request_id, redaction, headers)
    if status >= 300:
        return _without_answer(response, headers, exchange, errors)
    encoding = response.header("content-encoding") or ""
    is_stream = media_type(response) == EVENT_STREAM
    kind, coding = (EVENT_STREAM, "") if is_stream else (JSON, encoding)
    usage_reader = reader(target.meter, kind, coding)
    usage = usage_reader.usage
    usage = partial(_once_in_the_cache, usage) if cache_counted_twice else usage
    body: Filter
    if not is_stream:
        body = _Answer(exchange, errors, usage, encoding, usage_reader)
    elif encoding and coding_of(encoding):
        body = unreadable(UNDECODABLE)
    else:
        heartbeat = dialect.heartbeat if sends_events else b""
        events = ArrayOfEvents if request.as_list else TranslatedEvents
        body = events(exchange.stream(usage), target, usage_reader, errors, heartbeat, clock)
    translated = FilteredResponse(response, headers, body, usage_reader)
    translated.status = 200
    return translated


def _without_answer(
    response: IncomingResponse, headers: Headers, exchange: AnyExchange, errors: TranslatedErrors
) -> FilteredResponse:
    """A redirect without its body, or an error, whose body is read and also decides the status."""
    translated = FilteredResponse(response, headers, Filter())
    if response.status < 400:
        translated.end_with(b"")
        return translated
    body, complete = read_body(response, MAX_ERROR)
    text = decode_body(response.header("content-encoding") or "", body) if complete else None
    document = error_document(text or b"")
    error = exchange.error(response.status, document)
    error.message = error.message or error_text(document) or plain_text(text or b"")
    error.code = error.code or error_code(response)
    translated.status = error.status
    translated.end_with(errors.document(error))
    return translated


class _Answer(WholeBody):
    """An answer in one piece, also for a caller who gets a stream."""

    def __init__(
        self,
        exchange: AnyExchange,
        errors: TranslatedErrors,
        usage: UsageSource,
        encoding: str,
        usage_reader: Reader,
    ) -> None:
        super().__init__(MAX_ANSWER, encoding, usage_reader.feed)
        self._exchange = exchange
        self._errors = errors
        self._usage = usage

    def change(self, text: bytes) -> bytes:
        try:
            return self._exchange.answer(text, self._usage)
        except (BrokenAnswer, UpstreamError) as error:
            framing = framing_of(text)
            is_misframed = framing in (Framing.EVENTS, Framing.ARRAY) or text[:2] == GZIP_START
            if isinstance(error, BrokenAnswer) and is_misframed:
                self.failure = Misframed(self.received)
            elif isinstance(error, BrokenAnswer) and text.lstrip()[:1] == b"<":
                self.failure = self._errors.failure(BrokenAnswer(_PAGE))
            else:
                self.failure = self._errors.failure(error)
        return b""


def _once_in_the_cache(source: UsageSource) -> Usage | None:
    """The usage of an upstream that counts the tokens of the prompt cache twice."""
    usage = source()
    return None if usage is None else usage.without_cache_twice()
