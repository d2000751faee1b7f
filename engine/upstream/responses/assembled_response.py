"""A stream that answers a relayed request for an answer in one piece, put together.

Some servers stream whatever a request says, and SDKs read no events where they want a JSON text.
The events are translated into an answer of the same language. Of the Responses API the last event
has the whole answer, with items and ids that a translation would not keep; of a chat the members
that it does not know are added to it, and of a message it has the blocks as they came.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Raw, Struct

from engine.dialects import Dialect
from engine.dialects.interface.streams import index_in, objects_in
from engine.exchange.exchange import Exchange
from engine.translations.neutral.events import UsageSource, no_usage
from engine.translations.neutral.language import TargetRequest
from engine.translations.neutral.refusals import UNREADABLE
from engine.translations.neutral.request import ChatRequest
from engine.translations.translation import StreamTranslator, TranslatedExchange, Translation
from engine.upstream.client.response import EVENT_STREAM, IncomingResponse, media_type
from engine.upstream.conditions.request_facts import language_of_request, read_chat
from engine.values.errors import GatewayError
from engine.values.event_json import json_object
from engine.values.trees import Json

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


class _Original:
    """What an answer has beside its translation: of most languages nothing."""

    def add(self, event: Json) -> bool:
        """Note an event. Returns whether it says nothing that can be translated."""
        return False

    def completed(self, answer: bytes) -> bytes:
        """The translated answer, completed."""
        return answer


_READ = frozenset({"choices", "object", "usage", "error", "obfuscation"})
_READ_OF_CHOICE = frozenset({"index", "delta", "message", "text", "logprobs", "finish_reason"})
_READ_OF_MESSAGE = frozenset({"tool_calls", "function_call"})


class _ChatMembers(_Original):
    """The members of chunks, choices and messages that the translation does not have."""

    def __init__(self) -> None:
        self._members: Json = {}
        self._choices: dict[int, tuple[Json, Json]] = {}

    def add(self, event: Json) -> bool:
        _note(self._members, event, _READ)
        if isinstance(usage := event.get("usage"), dict):
            self._members["usage"] = usage
        for position, choice in enumerate(objects_in(event.get("choices"))):
            members, message = self._choices.setdefault(index_in(choice, position), ({}, {}))
            _note(members, choice, _READ_OF_CHOICE)
            if isinstance(delta := choice.get("delta"), dict):
                _note(message, delta, _READ_OF_MESSAGE, joins=True)
        return False

    def completed(self, answer: bytes) -> bytes:
        document = msgspec.json.decode(answer)
        for choice in document["choices"]:
            members, message = self._choices.get(choice["index"], ({}, {}))
            choice["message"] = {**message, **choice["message"]}
            choice.update({name: members[name] for name in members if name not in choice})
        usage = {**self._members.pop("usage", {}), **document.get("usage", {})}
        document = {**self._members, **document}
        return msgspec.json.encode({**document, "usage": usage} if usage else document)


_BLOCKS = frozenset({"text", "thinking", "redacted_thinking", "tool_use"})
"""The blocks that a translation carries. Others are those of tools that the vendor runs."""


class _MessageBlocks(_Original):
    """The blocks of a message as they came, with what the vendor wants back of them, and the
    members of the message. One whose events do not fit together is the translated one."""

    def __init__(self) -> None:
        self._members: Json = {}
        self._usage: Json = {}
        self._blocks: dict[int, Json] = {}
        self._inputs: dict[int, str] = {}
        self._is_odd = False

    def add(self, event: Json) -> bool:
        for part in (event.get("message"), event.get("delta"), event):
            if isinstance(part, dict) and event.get("type") in ("message_start", "message_delta"):
                _note(self._members, part, frozenset({"type", "message", "delta", "usage"}))
                _note(self._usage, part.get("usage") or {}, frozenset())
        index = event.get("index")
        if type(index) is not int:
            self._is_odd = self._is_odd or str(event.get("type")).startswith("content_block")
            return False
        if isinstance(block := event.get("content_block"), dict):
            self._is_odd = self._is_odd or index in self._blocks
            self._blocks[index] = {**block}
        elif isinstance(delta := event.get("delta"), dict):
            self._add_delta(index, delta)
        return self._blocks.get(index, {}).get("type") not in (None, *_BLOCKS)

    def _add_delta(self, index: int, delta: Json) -> None:
        block = self._blocks.get(index)
        if block is None:
            self._is_odd = True
            return
        for name, value in delta.items():
            if name == "partial_json":
                text = self._inputs.pop(index, "")
                text += str(value or "")  # grows in place: nothing else has it
                self._inputs[index] = text
            elif name == "citation":
                _note(block, {"citations": [value]}, frozenset(), joins=True)
            elif name != "type":
                _note(block, {name: value}, frozenset(), joins=True)

    def completed(self, answer: bytes) -> bytes:
        document: dict[str, Any] = msgspec.json.decode(answer, type=dict[str, Raw])
        _note(self._usage, msgspec.json.decode(document["usage"]), frozenset())
        document = {**self._members, **document, "usage": self._usage}
        with suppress(msgspec.DecodeError):  # arguments that are no JSON are the translation's
            for index, text in self._inputs.items():
                if text:
                    msgspec.json.decode(text, type=dict[str, Raw])
                    self._blocks[index]["input"] = Raw(text.encode())
            if self._blocks and not self._is_odd:
                blocks = [self._blocks[index] for index in sorted(self._blocks)]
                document["content"] = [o for o in blocks if o.get("text") != ""]
        return msgspec.json.encode(document)


_BLANK: tuple[object, ...] = (None, "", [], {})
_WORDS = ("role", "id", "type")  # deltas repeat them


def _note(members: Json, source: Any, known: frozenset[str], *, joins: bool = False) -> None:
    """Note the members of an object that are neither blank nor `known`; `joins`: of deltas, whose
    texts and lists go on."""
    for name, value in source.items() if isinstance(source, dict) else ():
        if name in known or value in _BLANK:
            continue
        earlier: Any = members.get(name)
        is_joined = joins and type(earlier) is type(value) and name not in _WORDS
        if is_joined and isinstance(value, list):
            earlier.extend(value)  # a new list for each delta would take the square of their number
        elif is_joined and isinstance(value, str):
            members[name] = ""  # nothing else has the text then, and it grows in place
            earlier += value
            members[name] = earlier
        else:
            members[name] = value


_ORIGINALS: dict[str, type[_Original]] = {
    "chat_completions": _ChatMembers,
    "messages": _MessageBlocks,
}


class _Assembler(StreamTranslator):
    """Returns the answer at the end of the stream: of a response the one in its last event, unless
    that leaves out the output, as ChatGPT's server does."""

    _response = b""

    def __init__(self, exchange: TranslatedExchange, usage: UsageSource) -> None:
        super().__init__(exchange, usage)
        self._original = _ORIGINALS.get(exchange.translation.source.name, _Original)()

    def event(self, data: bytes) -> bytes:
        if self._original.add(json_object(data)):
            return self._add((), len(data))  # it counts for the bound of an answer
        output = super().event(data)
        if self.ended and data.startswith(b"{"):
            with suppress(msgspec.DecodeError):  # it is none of these, and is put together
                event = _EVENT.decode(data)
                if event.type in _ENDS and _RESPONSE.decode(event.response).output:
                    self._response = bytes(event.response)
        return output

    def end(self) -> bytes:
        output = super().end()
        return self._response or self._original.completed(output)
