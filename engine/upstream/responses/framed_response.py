"""A response by what its bytes are, whatever its headers say: events, an array, or a JSON text.

Servers send server-sent events as text or as JSON, name a JSON text `text/event-stream`, answer
with an array where events are wanted, and encode what may not be encoded. This is decided here,
before anything else reads a response: what follows may trust its Content-Type.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from engine.dialects import Dialect
from engine.dialects.interface.streams import Framing
from engine.exchange.exchange import Exchange
from engine.exchange.member_protocols import Headers
from engine.relay.amazon_event_stream import MEDIA_TYPE
from engine.relay.amazon_events import AmazonEvents
from engine.relay.filter import Decoding, Filter
from engine.relay.framing import ArrayEvents, framing_of
from engine.relay.sse import MAX_EVENT
from engine.translations import AnyExchange
from engine.upstream.client.failures import Silence
from engine.upstream.client.response import (
    EVENT_STREAM,
    JSON,
    IncomingResponse,
    media_type,
    read_body,
)
from engine.upstream.responses.filtered_response import FilteredResponse
from engine.upstream.responses.first_content import FirstContent
from engine.upstream.responses.judged_stream import EventArray, JudgedStream
from engine.upstream.targets.target import Target
from engine.values.content_coding import GZIP_START, Decoder, coding_of, decoder
from engine.values.event_json import json_or_none
from engine.values.redaction import Redaction

_ENCODED = ("content-encoding", "content-length", "content-md5", "etag", "digest", "repr-digest")
"""The headers that do not hold once a body is decoded."""

MAX_OBJECTS = 100_000
"""The most objects in a JSON text that becomes a stream: an event for each of millions would occupy
the worker for seconds."""


def framed_for(
    target: Target,
    received: IncomingResponse,
    exchange: Exchange,
    dialect: Dialect,
    translated: AnyExchange | None,
    content: FirstContent,
    *,
    look: bool = False,
) -> IncomingResponse:
    """A response in the framing of its bytes, or in the one that the request wants. What is judged
    in a framing of its own is metered there. `look`: its headers are not believed."""
    content.framing = Framing.UNKNOWN
    if dialect.transparent or not 200 <= received.status < 300:
        return received
    wanted, upstream = partial(_wanted_framing, exchange, dialect, translated), target.upstream
    beat = upstream.heartbeat if dialect.heartbeat else None
    if translated is not None:
        beat = beat if translated.request.stream else None
        response = framed(received, wanted, content, beat, look=look)
        content.framing = Framing.UNKNOWN  # of the translation, which decides it
        return response
    response = received
    if not dialect.amazon_streams:
        kind = media_type(received)
        if kind == JSON:
            look = look and not received.header("content-encoding")
        elif kind != EVENT_STREAM and dialect.answers_json(exchange.path, exchange.content.value):
            _name_json(received)
        look = kind != EVENT_STREAM and (look or kind != JSON) and dialect.has_chat(exchange.path)
        response = framed(received, wanted, content, beat, look=look)
        if not dialect.array_streams:
            return _in_events(response, wanted, dialect)
    stream = _with_judge(response, wanted(), dialect, upstream.redaction, content.several)
    if stream is not None:
        content.framing = Framing.ARRAY
    return stream or response


def _name_json(response: IncomingResponse) -> None:
    """Set the Content-Type of a response whose first bytes are those of JSON."""
    if coding_of(response.header("content-encoding") or ""):
        return
    if _first_framing(response, None) in (Framing.WHOLE, Framing.ARRAY):
        _set_media_type(response, JSON)


def _wanted_framing(
    exchange: Exchange, dialect: Dialect, translated: AnyExchange | None
) -> Framing:
    """The framing that a request wants of the upstream's answer."""
    if translated is None:
        return dialect.wanted_framing(exchange.path, exchange.query, exchange.content.value)
    return Framing.EVENTS if translated.request.stream else Framing.WHOLE


def framed(
    received: IncomingResponse,
    wanted: Callable[[], Framing],
    content: FirstContent,
    beat: float | None = None,
    *,
    look: bool = False,
) -> IncomingResponse:
    """A response of success in the framing that its first bytes show; events, if its bytes are an
    array and the request wants some, or its headers are wrong. Waits for these bytes; of a response
    that says that it is a stream, as is wanted, for `beat` seconds: then it is believed, and
    `content` is silent. Sets the framing of `content` for events. A whole answer is believed unless
    `look`. Raises UpstreamFailure."""
    kind = media_type(received)
    trusts_headers = not look and kind != EVENT_STREAM and wanted() is Framing.WHOLE
    if kind != EVENT_STREAM:
        if kind.startswith(MEDIA_TYPE):
            return _as_events(received, AmazonEvents())
        if kind != JSON and trusts_headers:
            return received
    readable = _readable(received, decodes=not trusts_headers)
    if readable is None:
        return received
    response = readable
    try:
        framing = _first_framing(response, beat if kind == EVENT_STREAM else None)
    except Silence:
        if wanted() is not Framing.WHOLE:
            content.is_silent = True
            return response
        framing = _first_framing(response, None)
    if framing is Framing.UNKNOWN and (decoded := _without_gzip(response)) is not None:
        response, framing = decoded, _first_framing(decoded, None)
    if framing is Framing.EVENTS:
        content.framing = framing
        if kind != EVENT_STREAM:
            _set_media_type(response, EVENT_STREAM)
    elif framing is Framing.ARRAY and (
        wanted() is Framing.EVENTS or ((look or kind == EVENT_STREAM) and wanted() is Framing.WHOLE)
    ):
        return _as_events(response, ArrayEvents())
    elif framing is not Framing.UNKNOWN and kind.find("json") < 0:
        _set_media_type(response, JSON)
    return response


def _readable(response: IncomingResponse, *, decodes: bool) -> IncomingResponse | None:
    """A response whose first bytes can be read: its content without a coding. None for one whose
    coding is unknown, or that is not to be decoded."""
    encoding = response.header("content-encoding")
    if not encoding:
        return response
    if not coding_of(encoding):
        response.headers = [o for o in response.headers if o[0] != "content-encoding"]
        return response
    reader = decoder(encoding) if decodes else None
    return None if reader is None else _decoded(response, reader)


def _decoded(response: IncomingResponse, decoder: Decoder) -> FilteredResponse:
    headers = [pair for pair in response.headers if not pair[0].startswith(_ENCODED)]
    return FilteredResponse(response, headers, Decoding(decoder))


def _without_gzip(response: IncomingResponse) -> FilteredResponse | None:
    """A response in gzip that does not say so, decoded; None for any other one."""
    data = response.read()
    response.unread(data)
    return _decoded(response, Decoder("gzip")) if data.startswith(GZIP_START) else None


def _as_events(response: IncomingResponse, body: Filter) -> FilteredResponse:
    """A response whose stream `body` turns into server-sent events."""
    return FilteredResponse(response, _headers_for(response, EVENT_STREAM), body)


def _in_events(
    response: IncomingResponse, wanted: Callable[[], Framing], dialect: Dialect
) -> IncomingResponse:
    """The stream that the request wants of a JSON text in its place. A text that is not an answer
    of the dialect, breaks off, is longer than an event may be or has too many objects is itself."""
    if media_type(response) != JSON or wanted() is not Framing.EVENTS:
        return response
    if response.header("content-encoding"):
        return response
    text, is_complete = read_body(response, MAX_EVENT)
    events = b""
    if is_complete and text.count(b"{") <= MAX_OBJECTS:
        events = dialect.events_of(json_or_none(text))
    if not events:
        response.unread(text)
        return response
    stream = FilteredResponse(response, _headers_for(response, EVENT_STREAM), Filter())
    stream.end_with(events)
    return stream


def _with_judge(
    response: IncomingResponse,
    wanted: Framing,
    dialect: Dialect,
    redaction: Redaction,
    several: bool,
) -> FilteredResponse | None:
    """A framed response to a request that wants a JSON array, or Amazon's messages: judged, and
    written as the array where it is events. None for any other, and for one in an encoding that
    cannot be decoded."""
    if response.header("content-encoding"):
        return None
    kind, headers = media_type(response), response.headers
    if dialect.amazon_streams and kind.startswith(MEDIA_TYPE):
        body = JudgedStream(AmazonEvents(), dialect, redaction)
    elif wanted is not Framing.ARRAY:
        return None
    elif kind == EVENT_STREAM:
        body, headers = (
            EventArray(dialect, redaction, several=several),
            _headers_for(response, JSON),
        )
    else:
        body = JudgedStream(ArrayEvents(), dialect, redaction, several=several)
    usage_reader = None if dialect.meter is None else body.usage
    return FilteredResponse(response, headers, body, usage_reader)


def _headers_for(response: IncomingResponse, kind: str) -> Headers:
    """The headers of a response whose body becomes one of this media type."""
    headers = [pair for pair in response.headers if not pair[0].startswith("content-")]
    return [*headers, ("content-type", kind)]


def _first_framing(response: IncomingResponse, beat: float | None) -> Framing:
    """The framing of the first bytes, which are read again. Raises Silence."""
    data = response.read(beat=beat)
    framing = framing_of(data)
    while framing is None and (more := response.read()):
        data += more
        framing = framing_of(data)
    response.unread(data)
    return framing or framing_of(data, ended=True) or Framing.UNKNOWN


def _set_media_type(response: IncomingResponse, kind: str) -> None:
    headers = [pair for pair in response.headers if pair[0] != "content-type"]
    response.headers = [*headers, ("content-type", kind)]
