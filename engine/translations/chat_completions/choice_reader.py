"""One choice of an answer -> neutral events, in a stream and in one piece alike.

The parts of a choice may interleave: the fragments of several tool calls, and text between them.
Blocks may not, so what comes while a call is not complete waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from engine.translations.neutral.arguments import LARGEST
from engine.translations.neutral.content import Block, Reasoning, Refusal, Text, ToolCall
from engine.translations.neutral.events import (
    BrokenAnswer,
    Close,
    Delta,
    Event,
    Finish,
    Open,
    Sign,
    Stop,
)
from engine.translations.neutral.members import Members
from engine.translations.neutral.signatures import unseal

NAME = "chat_completions"

Key = tuple[str, int | str]
"""The kind of a block, and which one of that kind."""

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "filter",
}
_REASONING = ("reasoning_content", "reasoning")


class ChoiceReader:
    """Reads the deltas of one choice; a whole message is one delta."""

    def __init__(self, candidate: int) -> None:
        self.finish: Finish | None = None
        self._candidate = candidate
        self._open: Key | None = None
        self._arguments = ""
        self._waiting: dict[Key, tuple[Block, list[str]]] = {}
        self._calls: dict[int, str] = {}
        self._opened: set[Key] = set()
        self._waiting_size = 0

    def delta(self, delta: Members) -> Iterator[Event]:
        """The events of one delta or message."""
        yield from self._read_reasoning(delta)
        text, refusal = delta.text("content"), delta.text("refusal")
        if text:
            yield from self._add(("text", 0), Text(), text)
        if refusal:
            yield from self._add(("refusal", 0), Refusal(), refusal)
        for position, call in enumerate(delta.objects("tool_calls")):
            yield from self._read_call(call, position)

    @property
    def is_text_open(self) -> bool:
        """Whether a citation can be added: text is being read."""
        return self._open == ("text", 0)

    def block(self, block: Block) -> Iterator[Event]:
        """A block that comes in one piece, like an image."""
        yield from self._add(("whole", len(self._opened)), block, "")

    def stop(self, reason: str) -> None:
        """The reason why the choice ends; only the first counts, as some vendors repeat it."""
        if self.finish is None:
            self.finish = Finish(stop=_STOPS.get(reason, "end"), native=reason)

    def close(self) -> Iterator[Event]:
        """Everything that waited, and the end of the last block."""
        yield from self._close()
        while self._waiting:
            key = next(iter(self._waiting))
            block, pieces = self._waiting.pop(key)
            yield from self._begin(key, block)
            for piece in pieces:
                yield Delta(piece, self._candidate)
            yield from self._close()
        if self.finish is not None and self.finish.stop == "end" and self._calls:
            self.finish.stop = "tool_calls"

    def _read_reasoning(self, delta: Members) -> Iterator[Event]:
        details = list(delta.objects("reasoning_details"))
        for position, detail in enumerate(details):
            index = detail.integer("index")
            key: Key = ("detail", position if index is None else index)
            text = detail.text("text") or detail.text("summary") or ""
            yield from self._add(key, Reasoning(), text)
            sealed = detail.text("signature") or detail.text("data")
            if sealed is not None and self._open == key:
                yield Sign(unseal(sealed, NAME), self._candidate)
        for name in _REASONING:
            text = delta.text(name) or ""
            key = ("reasoning", 0)
            if text and not details:
                before = self._open
                yield from self._add(key, Reasoning(), text)
                if self._open == key != before:  # the name of the member returns with the thoughts
                    yield Sign(unseal(name, NAME), self._candidate)
                return

    def _read_call(self, call: Members, position: int) -> Iterator[Event]:
        index = call.integer("index")
        index = position if index is None else index
        function = call.members("function")
        call_id, name = call.text("id") or "", ""
        arguments = ""
        if function is not None:
            name, arguments = function.text("name") or "", function.text("arguments") or ""
        known = self._calls.get(index)
        if known is None or (call_id and name and call_id != known):
            # Some vendors give every call the same index: another id is another call.
            self._calls[index] = call_id
        key: Key = ("call", self._calls[index] or index)
        yield from self._add(key, ToolCall(id=call_id, name=name), arguments)

    def _add(self, key: Key, block: Block, text: str) -> Iterator[Event]:
        """Add text to a block: now, or when the open call is complete."""
        if key != self._open and self._must_wait(key):
            _, pieces = self._waiting.setdefault(key, (block, []))
            pieces.append(text)
            self._waiting_size += len(text)
            if self._waiting_size > LARGEST:
                raise BrokenAnswer(f"the upstream's tool calls have over {LARGEST} characters")
            return
        if key != self._open:
            yield from self._close()
            yield from self._begin(key, block)
        if text:
            if key[0] == "call":
                self._arguments += text
                if len(self._arguments) > LARGEST:
                    raise BrokenAnswer(f"the upstream's tool call has over {LARGEST} characters")
            yield Delta(text, self._candidate)

    def _must_wait(self, key: Key) -> bool:
        """Whether a block cannot begin, or go on, before the open call has ended."""
        if self._waiting:
            return True
        if self._open is None or self._open[0] != "call":
            return False
        return not _is_complete(self._arguments)

    def _begin(self, key: Key, block: Block) -> Iterator[Event]:
        if key[0] == "call" and key in self._opened:
            raise BrokenAnswer("the upstream's answer goes on with a tool call that had ended")
        self._opened.add(key)
        self._open, self._arguments = key, ""
        if isinstance(block, ToolCall) and not block.name:
            raise BrokenAnswer("the upstream's answer has a tool call without a name")
        yield Open(block, self._candidate)

    def _close(self) -> Iterator[Event]:
        if self._open is not None:
            self._open = None
            yield Close(self._candidate)


def _is_complete(arguments: str) -> bool:
    """Whether the text of arguments cannot go on: it is the JSON of a whole object."""
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        return isinstance(msgspec.json.decode(arguments), dict)
    except (msgspec.DecodeError, RecursionError):
        return False
