"""Two concurrent functions, of which the first result counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import gevent

T = TypeVar("T")


class Run(Generic[T]):
    """A function in a greenlet, with its `result` or its `error`; neither while it runs, or after
    it was killed."""

    def __init__(self, run: Callable[[], T]) -> None:
        self._function = run
        self.result: T | None = None
        self.error: Exception | None = None
        self.greenlet: Any = gevent.spawn(self._run)

    def _run(self) -> None:
        try:
            self.result = self._function()
        except Exception as error:  # noqa: BLE001 - the caller of `race` raises it
            self.error = error


def race(
    first: Callable[[], T],
    delay: float,
    second: Callable[[], Callable[[], T] | None],
    wins: Callable[[T], bool],
) -> list[Run[T]]:
    """Run `first`, and the function that `second` returns if `first` has not ended after `delay`
    seconds, until one of them has a result that `wins`, or both have ended.

    Returns the runs, the decisive one at the end: the winner, else the last that ended. The other
    one is killed, and both are if an exception ends the wait."""
    runs = [Run(first)]
    try:
        if not runs[0].greenlet.ready():
            gevent.wait([runs[0].greenlet], timeout=delay)
        if not runs[0].greenlet.ready() and (function := second()) is not None:
            runs.append(Run(function))
        return _until_won(runs, wins)
    finally:
        for run in runs:
            run.greenlet.kill()


def _until_won(runs: list[Run[T]], wins: Callable[[T], bool]) -> list[Run[T]]:
    pending = [*runs]
    while True:
        gevent.wait([run.greenlet for run in pending], count=1)
        for run in [run for run in pending if run.greenlet.ready()]:
            pending.remove(run)
            if not pending or (run.result is not None and wins(run.result)):
                return [*[other for other in runs if other is not run], run]
