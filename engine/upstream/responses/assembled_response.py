"""A stream that answers a relayed request for an answer in one piece, put together.

Some servers stream whatever a request says, and SDKs read no events where they want a JSON text.
The events are translated into an answer of the same language. Of the Responses API the last event
has the whole answer, with items and ids that a translation would not keep.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec
from msgspec import Raw, Struct

from engine.dialects import Dialect
from engine.exchange.exchange import Exchange
from engine.translations.neutral.events import UsageSource, no_usage
from engine.translations.neutral.language import TargetRequest
from engine.translations.neutral.refusals import UNREADABLE
from engine.translations.neutral.request import ChatRequest
from engine.translations.translation import StreamTranslator, TranslatedExchange, Translation
from engine.upstream.client.response import EVENT_STREAM, IncomingResponse, media_type
from engine.upstream.conditions.request_facts import language_of_request, read_chat
from engine.values.errors import GatewayError

_ENDS = frozenset({"response.completed", "response.incomplete"})


def assembly_of(
    response: IncomingResponse, exchange: Exchange, dialect: Dialect
) -> TranslatedExchange | None:
    """What puts together the events of a relayed response to a request that wants its answer in one
    piece. None for a response without events, and for a request that is no chat."""
    if response.status >= 300 or media_type(response) != EVENT_STREAM:
        return None
    if not dialect.has_chat(exchange.path):
        return None
    language = language_of_request(exchange)
    if language is None:
        return None
    try:
        request = read_chat(exchange, language)
    except (*UNREADABLE, GatewayError):  # the upstream has read it: the answer needs little of it
        request = ChatRequest(language=language.name, model="", messages=[])
    request.model, request.id, request.stream = exchange.model.name, exchange.request_id, False
    return _Assembly(Translation(language, language), request, TargetRequest(b"", ""), [])


class _Assembly(TranslatedExchange, frozen=True):
    """The exchange of a relayed request: only its answer is translated."""

    def for_answer(self) -> TranslatedExchange:
        return self

    def stream(self, usage: UsageSource = no_usage) -> StreamTranslator:
        return _Assembler(self, usage)


class _Event(Struct):
    type: str = ""
    response: Raw = Raw()


class _Response(Struct):
    output: list[Raw] = []


_EVENT = msgspec.json.Decoder(_Event)
_RESPONSE = msgspec.json.Decoder(_Response)


class _Assembler(StreamTranslator):
    """Returns the answer at the end of the stream: of a response the one in its last event, unless
    that leaves out the output, as ChatGPT's server does."""

    _response = b""

    def event(self, data: bytes) -> bytes:
        output = super().event(data)
        if self.ended and data.startswith(b"{"):
            with suppress(msgspec.DecodeError):  # it is none of these, and is put together
                event = _EVENT.decode(data)
                if event.type in _ENDS and _RESPONSE.decode(event.response).output:
                    self._response = bytes(event.response)
        return output

    def end(self) -> bytes:
        output = super().end()
        return self._response or output
