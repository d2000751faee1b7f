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
from engine.relay.amazon_event_stream import MEDIA_TYPE
from engine.relay.amazon_events import AmazonEvents
from engine.relay.framing import ArrayEvents, framing_of
from engine.translations import AnyExchange
from engine.upstream.amazon_response import with_server_sent_events
from engine.upstream.client.failures import Silence
from engine.upstream.client.response import IncomingResponse, UnreadableResponse
from engine.upstream.converted_response import ConvertedResponse
from engine.upstream.decoded_response import DecodedResponse
from engine.upstream.first_content import EVENT_STREAM, JSON, FirstContent, media_type
from engine.upstream.judged_response import EventArray, JudgedResponse
from engine.upstream.target import Target
from engine.values.content_coding import decoder
from engine.values.redaction import Redaction


def framed_for(
    target: Target,
    received: UnreadableResponse,
    exchange: Exchange,
    dialect: Dialect,
    translated: AnyExchange | None,
    content: FirstContent,
    *,
    misframed: bool = False,
) -> IncomingResponse:
    """A response in the framing of its bytes, or in the one that the request wants. What is judged
    in a framing of its own is metered there. `misframed`: its bytes are not what it says."""
    content.framing = Framing.UNKNOWN
    if dialect.transparent or not 200 <= received.status < 300:
        return received
    response: IncomingResponse
    wanted, upstream = partial(_wanted_framing, exchange, dialect, translated), target.upstream
    beat = upstream.heartbeat if dialect.heartbeat else None
    if translated is not None:
        beat = beat if translated.request.stream else None
        response = framed(received, wanted, content, beat, look=misframed)
        content.framing = Framing.UNKNOWN  # of the translation, which decides it
        return response
    response = received
    if not dialect.amazon_streams:
        response = framed(received, wanted, content, beat)
        if not dialect.array_streams:
            return response
    response = _as_wanted(response, wanted(), dialect, upstream.redaction)
    if isinstance(response, JudgedResponse):
        content.framing = Framing.ARRAY
    return response


def _wanted_framing(
    exchange: Exchange, dialect: Dialect, translated: AnyExchange | None
) -> Framing:
    """The framing that a request wants of the upstream's answer."""
    if translated is None:
        return dialect.wanted_framing(exchange.path, exchange.query, exchange.content.value)
    return Framing.EVENTS if translated.request.stream else Framing.WHOLE


def framed(
    received: UnreadableResponse,
    wanted: Callable[[], Framing],
    content: FirstContent,
    beat: float | None = None,
    *,
    look: bool = False,
) -> IncomingResponse:
    """A response of success in the framing that its first bytes show; events, if the request wants
    some and its bytes are an array. Waits for these bytes; of a response that says that it is a
    stream, for `beat` seconds: then it is believed, and `content` is silent. Sets the framing of
    `content` for events. A whole answer is believed unless `look`. Raises UpstreamFailure."""
    kind = media_type(received)
    trusts_headers = not look and kind != EVENT_STREAM and wanted() is Framing.WHOLE
    if kind != EVENT_STREAM:
        if kind.startswith(MEDIA_TYPE):
            return with_server_sent_events(received)
        if kind != JSON and trusts_headers:
            return received
    response = received
    if encoding := received.header("content-encoding"):
        decoding = decoder(encoding)
        if decoding is None or trusts_headers:
            return received
        response = DecodedResponse(received, decoding)
    try:
        framing = _first_framing(response, beat if kind == EVENT_STREAM else None)
    except Silence:
        content.is_silent = True
        return response
    if framing is Framing.EVENTS:
        content.framing = framing
        if kind != EVENT_STREAM:
            _set_media_type(response, EVENT_STREAM)
    elif framing is Framing.ARRAY and wanted() is Framing.EVENTS:
        return ConvertedResponse(response, ArrayEvents())
    elif framing is not Framing.UNKNOWN and kind.find("json") < 0:
        _set_media_type(response, JSON)
    return response


def _as_wanted(
    response: IncomingResponse, wanted: Framing, dialect: Dialect, redaction: Redaction
) -> IncomingResponse:
    """A framed response to a request that wants a JSON array, or Amazon's messages: judged, and
    written as the array where it is events. Any other is itself, and so is one in an encoding that
    cannot be decoded."""
    if response.header("content-encoding"):
        return response
    kind = media_type(response)
    if dialect.amazon_streams and kind.startswith(MEDIA_TYPE):
        return JudgedResponse(response, AmazonEvents(), dialect, redaction)
    if wanted is not Framing.ARRAY:
        return response
    if kind == EVENT_STREAM:
        return EventArray(response, dialect, redaction)
    return JudgedResponse(response, ArrayEvents(), dialect, redaction)


def _first_framing(response: UnreadableResponse, beat: float | None) -> Framing:
    """The framing of the first bytes, which are read again. Raises Silence."""
    data = response.read(beat=beat)
    framing = framing_of(data)
    while framing is None and (more := response.read()):
        data += more
        framing = framing_of(data)
    response.unread(data)
    return framing or Framing.UNKNOWN


def _set_media_type(response: IncomingResponse, kind: str) -> None:
    headers = [pair for pair in response.headers if pair[0] != "content-type"]
    response.headers = [*headers, ("content-type", kind)]
