"""The events of messages -> neutral events. Messages in one piece are read with it, too.

A stream is `message_start`, then each block as `content_block_start`, deltas and
`content_block_stop`, one after another, then `message_delta` with the reason of the end (it may
come again) and `message_stop`. `ping` and events of kinds not known here say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from engine.translations.messages.answer_fields import (
    NAME,
    UsageReader,
    error_event,
    read_citation,
    read_finish,
    read_signature,
)
from engine.translations.messages.content_reader import read_arguments
from engine.translations.neutral.arguments import LARGEST
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Reasoning,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
)
from engine.translations.neutral.members import Members

_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
_DELTAS: dict[str, tuple[str, type[Block]]] = {
    "text_delta": ("text", Text),
    "thinking_delta": ("thinking", Reasoning),
    "input_json_delta": ("partial_json", ToolCall),
    "signature_delta": ("signature", Reasoning),
    "citations_delta": ("citation", Text),
}
"""Kinds of deltas: the member with their content, and the block that they belong to."""


class Reader:
    """Reads the events of one stream."""

    def __init__(self) -> None:
        self._started = self._ended = False
        self._usage = UsageReader()
        self._finish: Finish | None = None
        self._block: Block | None = None
        self._index: int | None = None
        self._input = ""
        """Arguments that came with the beginning of a call: they count unless deltas follow."""
        self._signature: Signature | None = None
        self._foreign: _ForeignBlock | None = None

    def read(self, data: bytes) -> Iterator[Event]:
        """The events of one event of the stream."""
        if self._ended:
            return
        event = Members(data)
        match event.text("type"):
            case "message_start":
                message = event.members("message")
                if message is None:
                    raise event.wrong("message", "an object")
                yield from self.start(message)
            case "content_block_start":
                yield from self._open(event)
            case "content_block_delta":
                yield from self._delta(event)
            case "content_block_stop":
                self._check_index(event)
                yield from self.close()
            case "message_delta":
                self._usage.read(event.members("usage"))
                if (delta := event.members("delta")) is not None:
                    self.finish(delta)
            case "message_stop":
                yield from self.end()
            case "error":
                raise error_event(msgspec.json.decode(data))

    def end(self) -> Iterator[Event]:
        """The last event. Raises BrokenAnswer for an answer that is not complete."""
        if self._ended:
            return
        if not self._started or self._block is not None or self._finish is None:
            raise BrokenAnswer("the upstream's answer ended before it was complete")
        self._ended = True
        yield End(finishes={0: self._finish}, usage=self._usage.usage())

    def start(self, message: Members) -> Iterator[Event]:
        """The first event; the message is empty in a stream."""
        if self._started:
            raise BrokenAnswer("the upstream's answer starts twice")
        self._started = True
        self._usage.read(message.members("usage"))
        yield Start(
            id=message.text("id") or "",
            model=message.text("model") or "",
            usage=self._usage.usage(),
        )

    def finish(self, members: Members) -> None:
        """Take the reason of the end, if the members have one; the first counts."""
        reason = members.text("stop_reason")
        if reason and self._finish is None:
            self._finish = read_finish(members, reason)

    def open(self, members: Members, raw: Raw) -> Iterator[Event]:
        """A block begins with the contents that it has; in one piece these are all."""
        if not self._started or self._block is not None or self._finish is not None:
            raise BrokenAnswer("the upstream's answer has a block out of order")
        kind = members.text("type")
        text = ""
        if kind == "text":
            self._block, text = Text(), members.text("text") or ""
        elif kind == "thinking":
            self._block, text = Reasoning(), members.text("thinking") or ""
            self._signature = read_signature(members.text("signature") or "")
        elif kind == "redacted_thinking":
            self._block = Reasoning()
            self._signature = read_signature(members.text("data") or "", redacted=True)
        elif kind == "tool_use":
            self._input = read_arguments(members)
            self._block = _call(members)
        elif kind is not None:
            self._foreign = _ForeignBlock(kind, raw)
            self._block = Foreign(language=NAME, kind=kind, raw=raw)
            return  # opened when it is complete
        else:
            raise members.wrong("type", "the type of a block")
        yield Open(self._block)
        if text:
            yield Delta(text)
        for citation in members.objects("citations") if kind == "text" else ():
            yield from _cite(citation)

    def close(self) -> Iterator[Event]:
        """The open block is complete."""
        if self._block is None:
            raise BrokenAnswer("the upstream's answer has a block out of order")
        if self._foreign is not None:
            yield Open(self._foreign.block())
        if self._input:
            yield Delta(self._input)
        if self._signature is not None:
            yield Sign(self._signature)
        yield Close()
        self._block = self._foreign = self._signature = self._index = None
        self._input = ""

    def _open(self, event: Members) -> Iterator[Event]:
        raw = event.peek("content_block")
        block = event.members("content_block")
        if block is None:
            raise event.wrong("content_block", "an object")
        yield from self.open(block, Raw(raw))
        self._index = event.integer("index")

    def _check_index(self, event: Members) -> None:
        if self._block is None or event.integer("index") != self._index:
            raise BrokenAnswer("the upstream's answer has a block out of order")

    def _delta(self, event: Members) -> Iterator[Event]:
        self._check_index(event)
        raw = event.peek("delta")
        delta = event.members("delta")
        if delta is None:
            raise event.wrong("delta", "an object")
        kind = delta.text("type") or ""
        if self._foreign is not None:
            self._foreign.add(Raw(raw))
            return
        member, block = _DELTAS.get(kind, ("", Block))
        if not isinstance(self._block, block):
            raise BrokenAnswer(f"the upstream's answer has a {kind} in a block of another kind")
        if member == "citation":
            if (citation := delta.members(member)) is not None:
                yield from _cite(citation)
        elif member == "signature":
            self._signature = read_signature(delta.text(member) or "")
        elif member and (text := delta.text(member)):
            self._input = ""
            yield Delta(text)


def _call(members: Members) -> ToolCall:
    call_id, name = members.text("id"), members.text("name")
    if not call_id or not name:
        raise members.wrong("name" if call_id else "id", "a string that is not empty")
    return ToolCall(id=call_id, name=name)


def _cite(members: Members) -> Iterator[Event]:
    citation = read_citation(members)
    if citation is not None:
        yield Cite(citation)


def _is_object(text: str) -> bool:
    try:
        _MEMBERS.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


class _ForeignBlock:
    """A block that other languages do not know, put together from its beginning and its deltas."""

    def __init__(self, kind: str, raw: Raw) -> None:
        self._kind, self._raw = kind, raw
        self._texts: dict[str, list[str]] = {}
        self._size = 0

    def add(self, delta: Raw) -> None:
        """Take a delta: its texts go on those of the block. `partial_json` is the `input`."""
        self._size += len(bytes(delta))
        if self._size > LARGEST:
            raise BrokenAnswer(f"the upstream's answer has a {self._kind} that is too large")
        for name, raw in _MEMBERS.decode(delta).items():
            if name != "type" and bytes(raw)[:1] == b'"':
                text = msgspec.json.decode(raw, type=str)
                self._texts.setdefault(name, []).append(text)

    def block(self) -> Foreign:
        """The whole block."""
        raw = self._raw
        if self._texts:
            members = _MEMBERS.decode(raw)
            for name, texts in self._texts.items():
                text = "".join(texts)
                if name != "partial_json":
                    members[name] = Raw(msgspec.json.encode(text))
                elif _is_object(text):  # it is not if it was cut off
                    members["input"] = Raw(text.encode())
            raw = Raw(msgspec.json.encode(members))
        return Foreign(language=NAME, kind=self._kind, raw=raw)
