"""Parts of an answer (blocks, items) that are open at once, one after another.

Vendors name the part that an event belongs to by its index, and may go on with any of those that
are open. Blocks may not be open at once: what comes of a part while one before it is not done waits
for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from engine.translations.neutral.calls import check_buffer
from engine.translations.neutral.events import BrokenAnswer, Delta, End, Event, Finish

MAX_PARTS = 1_000
"""The most parts that are open at once; one without content has no event that would count."""

_EVENT_SIZE = 100
"""What an event that waits counts beside its text."""


class Part:
    """A part: the reader of its events. `name` is a text that no other part has."""

    is_done = False

    def __init__(self, name: str = "") -> None:
        self._name = name
        self.waiting: list[Event] = []

    def end(self) -> Iterable[Event]:
        """The last events of a part that the answer ended in."""
        raise NotImplementedError


_P = TypeVar("_P", bound=Part)


class OpenParts(Generic[_P]):
    """The parts that are not done, and those that wait. `current` is the first of them, at
    `index`; `done` is called for each that is done when its turn comes. `name` is that of the
    answer: `new` makes a part of a name that begins so."""

    current: _P | None = None
    index: int | None = None
    name = ""
    count = 0

    def __init__(self, new: Callable[[str], _P], done: Callable[[_P], object] = bool) -> None:
        self._new, self._done = new, done
        self._parts: dict[int, _P] = {}
        self._size = 0

    def __contains__(self, index: int | None) -> bool:
        return (index or 0) in self._parts

    def at(self, index: int | None) -> _P:
        """The part at an index; the current one without an index. Raises BrokenAnswer."""
        if index is None and self.current is not None:
            return self.current
        index = index or 0
        part = self._parts.get(index)
        if part is None:
            if len(self._parts) >= MAX_PARTS:
                raise BrokenAnswer(f"the upstream's answer has over {MAX_PARTS} parts at once")
            self.count += 1
            part = self._parts[index] = self._new(f"{self.name}:{self.count}")
            if self.current is None:
                self.current, self.index = part, index
        return part

    def in_order(self, part: _P, events: Iterable[Event]) -> Iterable[Event]:
        """The events of the current part; those of another wait. Raises BrokenAnswer."""
        if part is self.current:
            return [*events, *self._next()] if part.is_done else events
        for event in events:
            self._size += _EVENT_SIZE + (len(event.text) if isinstance(event, Delta) else 0)
            part.waiting.append(event)
        check_buffer(self._size)
        return ()

    def end(self, last: Callable[[int, _P], Iterable[Event]] | None = None) -> Iterator[Event]:
        """The events of all open parts. `last` are those of a part that is not done."""
        for index, part in self._parts.items():
            if not part.is_done:
                part.waiting += part.end() if last is None else last(index, part)
                part.is_done = True
        yield from self._next()

    def _next(self) -> Iterator[Event]:
        """The events that waited for parts which are done now."""
        for index, part in sorted(self._parts.items()):
            self.current, self.index = part, index
            yield from part.waiting
            part.waiting = []
            if not part.is_done:
                return
            self._done(part)
            del self._parts[index]
        self.current = self.index = None


class MessageReader(Generic[_P]):
    """The state of a stream whose parts are the blocks of one message. Those that are not complete
    at the end of the message are so then."""

    _started = _ended = False
    _finish: Finish | None = None

    def __init__(self, new: Callable[[str], _P]) -> None:
        self._blocks = OpenParts(new)

    def end(self) -> Iterable[Event]:
        """The last event. Raises BrokenAnswer for an answer that is not complete."""
        if self._ended:
            return ()
        if not self._started or self._finish is None:
            raise BrokenAnswer("the upstream's answer ended before it was complete")
        self._ended = True
        return [*self._blocks.end(), End(finishes={0: self._finish})]

    def _block(self, index: int | None) -> _P:
        """The block at an index, the open one without an index."""
        if self._finish is not None:
            raise BrokenAnswer("the upstream's answer has a block out of order")
        return self._blocks.at(index)
