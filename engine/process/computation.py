"""Computes in a child process or in a thread, while the event loop of this one goes on.

A child is a copy of this process: it has all that the function needs, and nothing is passed to
it. It costs a few milliseconds, so it is for what takes longer.

The thread is for a function that spends its time in a call of C that frees the interpreter:
anything else would only take its turns from the loop. There is one thread, so that one core stays
for the loop.
"""

from __future__ import annotations

import contextlib
import os
import posix  # gevent replaces parts of os by functions that wait for its loop
import signal
from collections.abc import Callable, Collection
from functools import cache, partial
from typing import TypeVar

import gevent
from gevent.lock import BoundedSemaphore
from gevent.socket import wait_read
from gevent.threadpool import ThreadPool

from engine.process.child_process import MEMORY, ChildTimeout, bounded, fork, result_of


def in_native_thread(function: Callable[[], Result]) -> Result:
    """What a function returns. It must not touch anything of gevent's. Raises what it raises."""
    result: Result = _pool(gevent.get_hub()).apply(function)
    return result


@cache
def _pool(hub: object) -> ThreadPool:
    """The thread of a hub. A fork has another one: gevent starts it anew."""
    return ThreadPool(1)


Result = TypeVar("Result")

SECONDS = 60.0
"""How long a child may compute."""

_MAX_CHILDREN = 2
_PIECE = 65_536
_POLL_SECONDS = 0.002
_places = BoundedSemaphore(_MAX_CHILDREN)
"""Children at one time; others wait."""


def compute_in_child(
    function: Callable[[], Result], seconds: float = SECONDS, *, keep: Collection[int] = ()
) -> Result:
    """What a function returns, computed in a child process. Its changes of objects stay there; it
    must not wait for anything, and its result must be small, and one that can be pickled. `keep`
    are the descriptors that it needs.

    Raises ChildFailed if it raises or if there can be no child, ChildTimeout if it takes longer.
    """
    with _places:
        child, pipe = fork(function, partial(bounded, seconds, MEMORY), is_alone=True, keep=keep)
        try:
            data = _read(pipe, seconds)
        finally:
            posix.close(pipe)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)  # it has answered, or its time is over
            status = _wait(child)
    result: Result = result_of(data, status)
    return result


def _read(pipe: int, seconds: float) -> bytes:
    """All that a child writes."""
    pieces: list[bytes] = []
    failure = ChildTimeout(f"did not end within {seconds:g} s")
    with gevent.Timeout(seconds, failure):
        while True:
            wait_read(pipe)
            piece = posix.read(pipe, _PIECE)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)


def _wait(child: int) -> int:
    """The exit status of a child that ends now: it frees its memory meanwhile. -1 if unknown."""
    try:
        while True:
            pid, status = posix.waitpid(child, os.WNOHANG)
            if pid:
                return status
            gevent.sleep(_POLL_SECONDS)
    except ChildProcessError:  # SIGCHLD is ignored, or another one waited for it
        return -1
