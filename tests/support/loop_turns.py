"""How often the event loop turns while a greenlet computes, if each turn is due at once."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import gevent

from engine.process import loop_turn


def loop_turns(work: Callable[[], object]) -> int:
    """The turns of the loop until a work is done, in a greenlet."""
    turns = 0

    def count() -> None:
        nonlocal turns
        turns += 1

    watcher = gevent.get_hub().loop.check(ref=False)
    watcher.start(count)
    try:
        with patch.object(loop_turn, "SECONDS", 0.0):
            greenlet = gevent.spawn(work)
            greenlet.get()
    finally:
        watcher.close()
    return turns
