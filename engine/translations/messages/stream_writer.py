"""Neutral events -> the events of messages."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.messages.answer_fields import (
    NAME,
    PREFIX,
    thinks_on_budget,
    write_citation,
    write_finish,
    write_reasoning,
    write_usage,
)
from engine.translations.messages.answer_writer import (
    hides_thoughts,
    holds_thoughts,
    open_call,
    refuse_media,
)
from engine.translations.neutral.calls import LARGEST, answer_id
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Json,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import Cite, Close, Delta, End, Event, Open, Sign, Start
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.signatures import NO_SIGNATURE

_encode = msgspec.json.Encoder().encode
_DELTA_EVENT = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":%b}\n\n'
)


class Writer:
    """Writes the events of one stream. Blocks of text begin with their first content, so that empty
    ones are not written."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._hides_thoughts = hides_thoughts(request)
        self._index = 0
        self._block: Block = Text()
        self._signature: Signature | None = None
        self._opened = self._has_refusal = False
        self._needs_mark = thinks_on_budget(request)
        self._holds_thoughts = holds_thoughts(request)
        self._held: list[Reasoning] = []
        """Thoughts that are written if a tool call follows."""
        self._texts: list[str] = []
        """The text of the open ones, as far as all of them are kept."""
        self._held_size = 0

    def write(self, event: Event) -> bytes:
        """The events for a neutral one; with the End also `message_stop`.

        Only the first candidate is written: callers of this language cannot ask for more.
        """
        if isinstance(event, Delta):  # nearly every event
            return self._delta(event.text) if event.text and not event.candidate else b""
        if isinstance(event, Start):
            return self._start(event)
        if isinstance(event, End):
            return self._end(event)
        if event.candidate:
            return b""
        match event:
            case Open():
                return self._open(event.block)
            case Sign():
                self._signature = event.signature  # written after the thoughts
            case Cite() if event.citation.url and not event.late:  # a block is complete
                citation = write_citation(event.citation)
                return self._begin() + self._add({"type": "citations_delta", "citation": citation})
            case Close():
                return self._close()
        return b""

    def _start(self, event: Start) -> bytes:
        message: Json = {
            "id": answer_id(PREFIX, event.id or self._request.id),
            "type": "message",
            "role": "assistant",
            "model": self._request.model or event.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": write_usage(event.usage),
        }
        return _event({"type": "message_start", "message": message})

    def _open(self, block: Block) -> bytes:
        refuse_media(block)
        self._block, self._opened = block, False
        if isinstance(block, ToolCall):
            return self._thoughts(block) + self._mark() + self._begin()
        if isinstance(block, Foreign) and block.language == NAME:
            return self._begin()
        self._has_refusal = self._has_refusal or isinstance(block, Refusal)
        return b""

    def _thoughts(self, call: ToolCall) -> bytes:
        """The thoughts that were held back up to a tool call."""
        if not self._held:
            return b""
        held, self._held, self._holds_thoughts = self._held, [], False
        written = b""
        for thoughts in held:
            self._block, self._opened, self._signature = thoughts, False, thoughts.signature
            written += (self._delta(thoughts.text) if thoughts.text else b"") + self._close()
        self._block, self._opened, self._holds_thoughts = call, False, True
        return written

    def _begin(self, content: Any = None) -> bytes:
        """The block begins, unless it has."""
        if self._opened:
            return b""
        self._opened = True
        block = self._block
        self._needs_mark = self._needs_mark and not isinstance(block, Reasoning)
        if content is None:
            if isinstance(block, ToolCall):
                content = open_call(block)
            elif isinstance(block, Reasoning):
                content = write_reasoning("", None)
            elif isinstance(block, Foreign):
                content = block.raw
            else:
                content = {"type": "text", "text": ""}
        return self._block_event("content_block_start", content_block=content)

    def _mark(self) -> bytes:
        """The mark before the first call of an answer without the thoughts that were asked for."""
        if not self._needs_mark:
            return b""
        self._needs_mark = False
        mark = write_reasoning("", NO_SIGNATURE)
        start = self._block_event("content_block_start", content_block=write_reasoning("", None))
        signature = self._add({"type": "signature_delta", "signature": mark["signature"]})
        stop = self._block_event("content_block_stop")
        self._index += 1
        return start + signature + stop

    def _delta(self, text: str) -> bytes:
        block = self._block
        delta: Json = {"type": "text_delta", "text": text}
        if isinstance(block, ToolCall):
            delta = {"type": "input_json_delta", "partial_json": text}
        elif isinstance(block, Reasoning):
            if self._hides_thoughts:
                return b""
            if self._holds_thoughts:
                self._held_size += len(text)
                if self._held_size <= LARGEST:
                    self._texts.append(text)
                return b""
            delta = {"type": "thinking_delta", "thinking": text}
        return self._add(delta) if self._opened else self._begin() + self._add(delta)

    def _sign(self, signature: Signature) -> bytes:
        content = write_reasoning("", signature)
        if content["type"] == "redacted_thinking":
            return self._begin(content)
        delta = {"type": "signature_delta", "signature": content["signature"]}
        return self._begin() + self._add(delta)

    def _close(self) -> bytes:
        signature, self._signature = self._signature, None
        if self._holds_thoughts and isinstance(self._block, Reasoning):
            self._held.append(Reasoning(text="".join(self._texts), signature=signature))
            self._texts = []
            return b""
        if isinstance(self._block, Reasoning) and self._opened:
            signature = signature or NO_SIGNATURE
        signed = b"" if signature is None else self._sign(signature)
        if not self._opened:
            return b""
        closed = self._block_event("content_block_stop")
        self._index += 1
        return signed + closed

    def _end(self, event: End) -> bytes:
        finish = event.finishes[min(event.finishes)]
        delta = write_finish(finish, self._request.stop, has_refusal=self._has_refusal)
        usage = write_usage(event.usage)
        end = {"type": "message_delta", "delta": delta, "usage": usage}
        return _event(end) + _event({"type": "message_stop"})

    def _add(self, delta: Json) -> bytes:
        return _DELTA_EVENT % (self._index, _encode(delta))

    def _block_event(self, kind: str, **members: Any) -> bytes:
        return _event({"type": kind, "index": self._index, **members})


def _event(document: Json) -> bytes:
    data = _encode(document)
    if b"\n" in data or b"\r" in data:  # JSON that is passed on; a line end would end the data
        data = bytes(msgspec.json.format(data, indent=-1))
    kind: str = document["type"]
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"
