"""One choice of an answer -> neutral events, in a stream and in one piece alike.

The parts of a choice may interleave: the fragments of several tool calls, and text between them.
Blocks may not, so what comes while a call is not complete waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from engine.translations.chat_completions.answer_fields import (
    FAILURES,
    NAME,
    REASONING_MEMBERS,
    STOPS,
    Detail,
)
from engine.translations.chat_completions.call_numbers import CallNumbers
from engine.translations.neutral.arguments import LARGEST
from engine.translations.neutral.content import (
    Block,
    Link,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.data_url import read_data_url
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Close,
    Delta,
    Event,
    Finish,
    Open,
    Sign,
)
from engine.translations.neutral.members import Members
from engine.translations.neutral.names import call_id
from engine.translations.openai_answer_fields import read_citation

Key = tuple[str, int | str]
"""The kind of a block, and which one of that kind."""

Content = list[Event]
"""What a block gets: its deltas."""

_TEXT: Key = ("text", 0)
_PLAIN = frozenset(("role", "content"))
_DETAIL = "reasoning_details"
"""The kind of thoughts that are an entry of this member."""

_EVENT_SIZE = 100
"""What an event that waits counts beside its text."""


class ChoiceReader:
    """Reads the deltas of one choice; a whole message is one delta."""

    def __init__(self, candidate: int, answer_id: str) -> None:
        self.finish: Finish | None = None
        self._candidate = candidate
        self._answer_id = answer_id
        self._open: Key | None = None
        self._opened: set[Key] = set()
        self._arguments: list[str] = []
        self._size = 0
        self._waiting: dict[Key, tuple[Block, Content]] = {}
        self._calls = CallNumbers()
        self._details: dict[Key, Detail] = {}
        self._text_start = self._text_length = 0

    def delta(self, delta: Members) -> Iterator[Event]:
        """The events of one delta or message."""
        is_plain = delta.has_only(_PLAIN)  # nearly every delta
        if not is_plain:
            yield from self._read_reasoning(delta)
        if delta.peek("content")[:1] == b"[":  # Mistral
            yield from self._read_parts(delta)
        elif text := delta.text("content"):
            yield from self._add(_TEXT, Text(), self._deltas(text))
            self._text_length += len(text)
        if is_plain:
            return
        if self._open == _TEXT:
            yield from self._read_citations(delta)
        if refusal := delta.text("refusal"):
            yield from self._add(("refusal", 0), Refusal(), self._deltas(refusal))
        for call in delta.objects("tool_calls"):
            index, vendor_id = call.integer("index"), call.text("id") or ""
            yield from self._read_call(index, vendor_id, call.members("function"))
        if (function := delta.members("function_call")) is not None:  # what came before tools
            yield from self._read_call(0, "", function)
        yield from self._read_images(delta)

    def stop(self, reason: str) -> None:
        """The reason why the choice ends; only the first counts, as some vendors repeat it. Raises
        BrokenAnswer for one that says that the vendor has failed."""
        if reason in FAILURES:
            raise BrokenAnswer(f"the upstream's answer was broken off: {reason}")
        if self.finish is None:
            self.finish = Finish(stop=STOPS.get(reason, "end"), native=reason)

    def close(self) -> Iterator[Event]:
        """Everything that waited, and the end of the last block."""
        yield from self._close()
        for key, (block, content) in self._waiting.items():
            yield from self._begin(key, block)
            yield from content
            yield from self._close()
        self._waiting = {}
        if self.finish is not None and self.finish.stop in ("end", "tool_calls"):
            self.finish.stop = "tool_calls" if self._calls.count else "end"

    def _read_reasoning(self, delta: Members) -> Iterator[Event]:
        details = False
        for position, entry in enumerate(delta.objects("reasoning_details")):
            details = True
            index = entry.peek("index").decode() or str(position)
            key: Key = (_DETAIL, f"{entry.peek('type').decode()} {index}")
            text, size = self._details.setdefault(key, Detail()).add(entry)
            self._count(size)
            if text or (size and key != self._open):
                yield from self._add(key, Reasoning(), self._deltas(text))
        for name in REASONING_MEMBERS:
            text = delta.text(name) or ""
            if text and not details:
                yield from self._add(("reasoning", name), Reasoning(), self._deltas(text))
                return

    def _deltas(self, text: str) -> Content:
        return [Delta(text, self._candidate)] if text else []

    def _read_citations(self, delta: Members) -> Iterator[Event]:
        """The sources of the open text. The vendor counts from the beginning of all text; a span
        that begins in an earlier block is told without its place."""
        for annotation in delta.objects("annotations"):
            page = annotation.members("url_citation")
            if page is None:
                continue
            citation = read_citation(page)
            start, end = citation.start, citation.end
            inside = start is not None and end is not None and start >= self._text_start
            citation.start = start - self._text_start if inside and start is not None else None
            citation.end = end - self._text_start if inside and end is not None else None
            yield Cite(citation, self._candidate)

    def _read_parts(self, delta: Members) -> Iterator[Event]:
        """A content that is a list: its thoughts and texts, each in its place. Other parts name
        sources, and say nothing without the request."""
        for part in delta.objects("content"):
            if part.peek("type") == b'"thinking"':
                text = "".join(each.text("text") or "" for each in part.objects("thinking"))
                if text:
                    yield from self._add(("thinking", 0), Reasoning(), self._deltas(text))
            elif text := part.text("text") or "":
                yield from self._add(_TEXT, Text(), self._deltas(text))
                self._text_length += len(text)

    def _read_images(self, delta: Members) -> Iterator[Event]:
        """Images in an answer: `images`, a member that OpenRouter has added."""
        for image in delta.objects("images"):
            address = image.members("image_url")
            url = None if address is None else address.text("url")
            if url is not None:
                data = url[:5].lower() == "data:"
                source = read_data_url(url, image.place) if data else Link(url)
                key = ("image", len(self._opened) + len(self._waiting))
                yield from self._add(key, Media(kind="image", source=source), [])

    def _read_call(
        self, index: int | None, vendor_id: str, function: Members | None
    ) -> Iterator[Event]:
        name = "" if function is None else function.text("name") or ""
        arguments = "" if function is None else function.text("arguments") or ""
        number = self._calls.number(index, vendor_id, name)
        key: Key = ("call", number)
        if not arguments and key in self._opened:
            return
        block = ToolCall(id=vendor_id or call_id(f"{self._answer_id}:{number}"), name=name)
        yield from self._add(key, block, self._deltas(arguments))

    def _add(self, key: Key, block: Block, content: Content) -> Iterator[Event]:
        """Add content to a block: now, or when the open call is complete."""
        size = sum(len(event.text) for event in content if isinstance(event, Delta))
        if key != self._open and self._must_wait():
            self._waiting.setdefault(key, (block, []))[1].extend(content)
            self._count(size + _EVENT_SIZE * (1 + len(content)))
            return
        if key != self._open:
            yield from self._close()
            yield from self._begin(key, block)
        if key[0] == "call":
            self._arguments += [event.text for event in content if isinstance(event, Delta)]
            self._count(size)
        yield from content

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > LARGEST:
            raise BrokenAnswer(f"the upstream's answer has over {LARGEST} characters to be kept")

    def _must_wait(self) -> bool:
        """Whether no block can begin, or go on, before the open call has ended."""
        if self._waiting:
            return True
        if self._open is None or self._open[0] != "call":
            return False
        return not _is_complete("".join(self._arguments))

    def _begin(self, key: Key, block: Block) -> Iterator[Event]:
        if key[0] == "call" and key in self._opened:
            raise BrokenAnswer("the upstream's answer goes on with a tool call that had ended")
        if isinstance(block, ToolCall) and not block.name:
            raise BrokenAnswer("the upstream's answer has a tool call without a name")
        self._opened.add(key)
        self._open, self._arguments = key, []
        self._text_start = self._text_length
        yield Open(block, self._candidate)

    def _close(self) -> Iterator[Event]:
        if self._open is None:
            return
        kind, name = self._open
        if kind == _DETAIL:
            yield Sign(self._details[self._open].signature, self._candidate)
        elif kind == "reasoning":  # the name of the member returns with the thoughts
            yield Sign(Signature(NAME, str(name)), self._candidate)
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
