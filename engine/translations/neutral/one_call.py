"""The wish for one call at a time, towards a target that cannot be told of it.

Without a function that may be called there is nothing to hold back. Where the caller demands a
call, the first one is what it wants. Only where the model chooses freely is the wish a loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.translations.neutral.content import ToolCall
from engine.translations.neutral.events import Close, Delta, Event, Open
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest, Tool


def lose_one_call(request: ChatRequest, losses: Losses) -> bool:
    """Add a loss if the target may call more than the caller wants. Returns whether the first call
    of an answer is the wanted one instead."""
    if request.parallel_calls is not False:
        return False
    mode = "auto" if request.tool_choice is None else request.tool_choice.mode
    if mode == "none" or not any(isinstance(tool, Tool) for tool in request.tools):
        return False
    if mode == "any":
        return True
    reason = "the upstream cannot be held to one call at a time"
    losses.add(request.place_of("parallel_calls"), reason)
    return False


class FirstCall:
    """Leaves out the calls of each candidate behind its first one."""

    def __init__(self) -> None:
        self._called: set[int] = set()
        self._omitted: set[int] = set()
        """Candidates whose open block is left out."""

    def events(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events without those of later calls."""
        for event in events:
            if isinstance(event, Open) and isinstance(event.block, ToolCall):
                if event.candidate in self._called:
                    self._omitted.add(event.candidate)
                    continue
                self._called.add(event.candidate)
            elif isinstance(event, Delta | Close) and event.candidate in self._omitted:
                if isinstance(event, Close):
                    self._omitted.remove(event.candidate)
                continue
            yield event
