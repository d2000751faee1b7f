"""Run a function in a child process: its memory is released when it ends, and a child that hangs,
crashes or exhausts memory ends alone.

The child is forked: it sees everything that this process has read, its changes stay its own, and
its result is pickled. No other thread may run: the child would inherit that thread's locks, and
nothing would release them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import posix  # gevent replaces parts of os by functions that wait for its loop
import resource
import select
import signal
import threading
import time
import traceback
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

Result = TypeVar("Result")

log = logging.getLogger("modelway")

MEMORY = 4 << 30
"""Bytes of data a child may have."""

_STOP_INTERVAL = 0.1
"""Seconds between two calls of `stop`: a signal does not interrupt the wait for the child."""

_REASON_LENGTH = 500
_LAST = 1 << 30
"""Above every descriptor."""
_DEFAULT = ("SIGINT", "SIGTERM", "SIGQUIT", "SIGCHLD", "SIGALRM", "SIGABRT")
_IGNORED = ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGTTIN", "SIGTTOU", "SIGWINCH")


class ChildFailed(Exception):
    """The child hung, died or raised; `str` is the predicate of a sentence about it."""


class ChildTimeout(ChildFailed):
    """The child did not end in time."""


def _never() -> bool:
    return False


def _nothing() -> None:
    """Nothing to do."""


def run(
    function: Callable[[], Result],
    *,
    seconds: float,
    memory: int = MEMORY,
    stop: Callable[[], bool] = _never,
    meanwhile: Callable[[], None] = _nothing,
) -> Result:
    """Run a function in a child process with bounded time and memory, and return its result. This
    process calls `meanwhile` before it waits.

    Raises ChildFailed, also soon after `stop` returns True.
    """
    deadline = time.monotonic() + seconds
    child, pipe = fork(function, partial(bounded, seconds, memory))
    try:
        meanwhile()
        data = _read(pipe, deadline, stop)
    finally:
        posix.close(pipe)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # it has answered, or its time is over
        status = _wait(child)
    if data is not None:
        result: Result = result_of(data, status)
        return result
    if stop():
        raise ChildFailed("was cancelled: this process is stopping")
    raise ChildTimeout(f"did not end within {seconds:g} s")


def run_in_child(function: Callable[..., Result], *arguments: object) -> Result:
    """Call the function in a child process, so that its memory is released: a process does not
    shrink after it has read a large document.

    If this process has threads, no child can be created, or the child fails, the function is called
    in this process, which also raises its exceptions.
    """
    call = partial(function, *arguments)
    if threading.active_count() > 1:
        return call()
    try:
        child, pipe = fork(call)
        with open(pipe, "rb") as file:
            data = file.read()
        result: Result = result_of(data, _wait(child))
    except ChildFailed as failure:
        log.info("the child process %s; this process does its work", failure)
        return call()
    return result


def fork(
    function: Callable[[], object],
    prepare: Callable[[], None] = _nothing,
    *,
    is_alone: bool = False,
    keep: Collection[int] = (),
) -> tuple[int, int]:
    """A child that calls `prepare` and then the function: its process id, and the pipe with what
    the function returned or raised. With `is_alone` it has no other descriptor of this process than
    the standard streams and `keep`, so that a connection ends when this process closes it."""
    read_end, write_end = posix.pipe()
    try:
        child = posix.fork()
    except OSError as error:
        posix.close(read_end)
        posix.close(write_end)
        raise ChildFailed(f"could not be created: {error}") from error
    if child == 0:
        posix.close(read_end)
        if is_alone:
            _close_all_but({write_end, *keep})
        _work(function, write_end, prepare)
    posix.close(write_end)
    return child, read_end


def _close_all_but(exceptions: set[int]) -> None:
    """Close all descriptors but these, and the standard streams."""
    begin = 3
    for descriptor in sorted(exceptions):
        posix.closerange(begin, descriptor)
        begin = descriptor + 1
    posix.closerange(begin, _LAST)


def result_of(data: bytes, status: int) -> Any:
    """The result that a child wrote; raises ChildFailed with what it raised, or how it ended."""
    try:
        succeeded, value = pickle.loads(data)  # noqa: S301 - our own child wrote it
    except (EOFError, pickle.UnpicklingError) as error:
        raise ChildFailed(_exit_reason(status)) from error
    if not succeeded:
        raise ChildFailed(f"failed: {value}")
    return value


def _work(function: Callable[[], object], pipe: int, prepare: Callable[[], None]) -> NoReturn:
    """In the child: write what the function returns or raises, and end without any clean-up."""
    status = 1
    try:
        prepare()
        try:
            answer = pickle.dumps((True, function()))
        except MemoryError:
            answer = pickle.dumps((False, "it needs more memory than it may have"))
        except Exception as error:  # noqa: BLE001 - the parent reports it
            answer = pickle.dumps((False, describe(error)))
        remainder = memoryview(answer)  # a slice of bytes would be a copy of megabytes
        while remainder:
            remainder = remainder[posix.write(pipe, remainder) :]
        status = 0
    finally:
        posix._exit(status)


def describe(error: Exception) -> str:
    """An exception in one line, with the place in the program that raised it."""
    words = " ".join(f"{type(error).__name__}: {error}".split())[:_REASON_LENGTH]
    frames = traceback.extract_tb(error.__traceback__)
    return f"{words} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else words


def bounded(seconds: float, memory: int) -> None:
    """Reset the parent's signal handlers, and bound time and memory."""
    signal.set_wakeup_fd(-1)
    for name in _DEFAULT:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    for name in _IGNORED:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.alarm(int(seconds) + 5)  # the parent may be gone
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")  # out of memory, the kernel kills this process before any worker


def _read(pipe: int, deadline: float, stop: Callable[[], bool]) -> bytes | None:
    """All bytes up to the end; None when the deadline or `stop` came first."""
    pieces: list[bytes] = []
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    while (seconds := deadline - time.monotonic()) > 0 and not stop():
        if ready.poll(min(seconds, _STOP_INTERVAL) * 1000):
            piece = posix.read(pipe, 65536)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
    return None


def _wait(child: int) -> int:
    """The child's exit status; -1 if it is unknown."""
    try:
        return posix.waitpid(child, 0)[1]
    except ChildProcessError:  # SIGCHLD is ignored, or another thread waited for it
        return -1


def _exit_reason(status: int) -> str:
    code: Any = os.waitstatus_to_exitcode(status) if status >= 0 else None
    if code is None or code >= 0:
        return "ended without a result"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
