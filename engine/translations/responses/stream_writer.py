"""Neutral events -> the events of a responses stream.

The last event repeats the whole answer, so its items are kept; together they are bounded.
"""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.neutral.arguments import LARGEST
from engine.translations.neutral.content import Block, Foreign, Reasoning, Refusal, Text, ToolCall
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
    Tokens,
)
from engine.translations.neutral.names import answer_id
from engine.translations.neutral.request import ChatRequest
from engine.translations.responses.answer_writer import (
    Items,
    annotation,
    ended,
    item_of,
    message_of,
    part_of,
    response_head,
    write_tokens,
)

Json = dict[str, Any]


class Writer:
    """Writes the events of one stream. Only the first candidate is written."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._sequence = 0
        self._head: Json = {}
        self._items = Items("")
        self._output: list[Any] = []
        self._message = ""
        """The id of the open message, "" for none."""
        self._parts = 0
        self._block: Block = Text()
        self._item = ""
        self._pieces: list[str] = []
        self._size = 0

    def write(self, event: Event) -> bytes:
        """The events for one neutral event."""
        if isinstance(event, Start):
            return self._start(event)
        if isinstance(event, End):
            return self._end(event)
        if event.candidate != 0:
            return b""
        if isinstance(event, Open):
            return self._open(event.block)
        if isinstance(event, Delta):
            return self._delta(event.text)
        if isinstance(event, Close):
            return self._close()
        if isinstance(event, Cite):
            return self._cite(event)
        if isinstance(event, Tokens):
            return self._tokens(event)
        return self._sign(event)

    def _start(self, event: Start) -> bytes:
        request = self._request
        identity = answer_id("resp_", event.id or request.id)
        created = event.created or request.time
        self._head = response_head(identity, created, event.model or request.model, request)
        self._items = Items(identity)
        return b"".join(
            self._event(f"response.{kind}", response=self._head)
            for kind in ("created", "in_progress")
        )

    def _open(self, block: Block) -> bytes:
        self._block, self._pieces = block, []
        if isinstance(block, Text | Refusal):
            return self._open_part(block)
        output = self._close_message()
        if isinstance(block, ToolCall | Reasoning):
            self._item = self._items.item_id(block)
            item = item_of(block, self._item, "in_progress")
            output += self._indexed("response.output_item.added", item=item)
        return output

    def _open_part(self, block: Block) -> bytes:
        output = b""
        if not self._message:
            self._message, self._parts = self._items.item_id(Text()), 0
            item = message_of(self._message, [], "in_progress")
            output = self._indexed("response.output_item.added", item=item)
            self._output.append(message_of(self._message, []))
        self._item = self._message
        return output + self._in_part("response.content_part.added", part=part_of(block))

    def _delta(self, text: str) -> bytes:
        self._pieces.append(text)
        self._size += len(text)
        if self._size > LARGEST:
            raise BrokenAnswer(f"the upstream's answer has over {LARGEST} characters")
        block = self._block
        if isinstance(block, ToolCall):
            kind = "response.function_call_arguments.delta"
            return self._in_item(kind, delta=text)
        if isinstance(block, Reasoning):
            begin = (
                self._summary("part.added", part=_summary("")) if len(self._pieces) == 1 else b""
            )
            return begin + self._summary("text.delta", delta=text)
        if isinstance(block, Refusal):
            return self._in_part("response.refusal.delta", delta=text)
        return self._in_part("response.output_text.delta", delta=text, logprobs=[])

    def _sign(self, event: Any) -> bytes:
        if isinstance(event, Sign) and isinstance(self._block, Reasoning):
            self._block.signature = event.signature
        return b""

    def _cite(self, event: Cite) -> bytes:
        if not event.citation.url or not isinstance(self._block, Text):
            return b""
        self._block.citations = [*self._block.citations, event.citation]
        length = sum(map(len, self._pieces))
        return self._in_part(
            "response.output_text.annotation.added",
            annotation_index=len(self._block.citations) - 1,
            annotation=annotation(event.citation, length),
        )

    def _tokens(self, event: Tokens) -> bytes:
        if not isinstance(self._block, Text) or not self._message:
            return b""
        tokens = write_tokens(event.logprobs)
        return self._in_part("response.output_text.delta", delta="", logprobs=tokens)

    def _close(self) -> bytes:
        block, text = self._block, "".join(self._pieces)
        if isinstance(block, Text | Refusal):
            block.text = text
            return self._close_part(block)
        output = b""
        if isinstance(block, ToolCall):
            block.arguments = text or "{}"
            if not text:
                output = self._in_item("response.function_call_arguments.delta", delta="{}")
            output += self._in_item(
                "response.function_call_arguments.done",
                name=block.name,
                arguments=block.arguments,
            )
        elif isinstance(block, Reasoning):
            block.text = text
            if text:
                output = self._summary("text.done", text=text)
                output += self._summary("part.done", part=_summary(text))
        elif isinstance(block, Foreign):
            self._item = self._items.item_id(block)
        item = item_of(block, self._item)
        return b"" if item is None else output + self._item_done(item)

    def _close_part(self, block: Block) -> bytes:
        part = part_of(block)
        if isinstance(block, Refusal):
            output = self._in_part("response.refusal.done", refusal=block.text)
        else:
            output = self._in_part("response.output_text.done", text=part["text"], logprobs=[])
        output += self._in_part("response.content_part.done", part=part)
        self._output[-1]["content"].append(part)
        self._parts += 1
        return output

    def _close_message(self) -> bytes:
        if not self._message:
            return b""
        item = self._output.pop()
        self._message = ""
        return self._item_done(item)

    def _item_done(self, item: Any) -> bytes:
        output = self._indexed("response.output_item.done", item=item)
        self._output.append(item)
        self._items.count += 1
        return output

    def _end(self, event: End) -> bytes:
        output = self._close_message()
        finish = event.finishes.get(0, Finish(stop="end"))
        response = ended(self._head, finish, self._output, event.usage)
        return output + self._event(f"response.{response['status']}", response=response)

    def _indexed(self, kind: str, **members: Any) -> bytes:
        return self._event(kind, output_index=self._items.count, **members)

    def _in_item(self, kind: str, **members: Any) -> bytes:
        return self._event(kind, item_id=self._item, output_index=self._items.count, **members)

    def _in_part(self, kind: str, **members: Any) -> bytes:
        return self._in_item(kind, content_index=self._parts, **members)

    def _summary(self, kind: str, **members: Any) -> bytes:
        return self._in_item(f"response.reasoning_summary_{kind}", summary_index=0, **members)

    def _event(self, kind: str, **members: Any) -> bytes:
        document = {"type": kind, "sequence_number": self._sequence, **members}
        self._sequence += 1
        return b"event: %b\ndata: %b\n\n" % (kind.encode(), msgspec.json.encode(document))


def _summary(text: str) -> Json:
    return {"type": "summary_text", "text": text}
