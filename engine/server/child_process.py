"""Run a function in a child process that is bounded in time and memory.

For work that may hang, crash or exhaust memory, in a process that must go on whatever happens. The
child is forked, so it has all that this process has read; nothing it changes is seen here.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

MEMORY = 4 << 30
"""Bytes of data a child may have."""

_LOOK = 0.1
"""Seconds between two calls of `stop`: a signal does not end the wait for the child."""

_REASON_LENGTH = 500
_DEFAULT = ("SIGINT", "SIGTERM", "SIGQUIT", "SIGCHLD", "SIGALRM", "SIGABRT")
_IGNORED = ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGTTIN", "SIGTTOU", "SIGWINCH")


class ChildFailed(Exception):
    """The child hung, died or raised; `str` is the predicate of a sentence about it."""


def _never() -> bool:
    return False


def run(
    function: Callable[[], T],
    *,
    seconds: float,
    memory: int = MEMORY,
    stop: Callable[[], bool] = _never,
) -> T:
    """Run a function in a child process, and return its result, which is pickled. Raises
    ChildFailed, also soon after `stop` returns True.

    No other thread may run: the child would have its locks, and no thread to release them.
    """
    read_end, write_end = os.pipe()
    try:
        child = os.fork()
    except OSError as error:
        os.close(read_end)
        os.close(write_end)
        raise ChildFailed(f"could not be started in a child process: {error}") from error
    if child == 0:
        os.close(read_end)
        _work(function, write_end, seconds, memory)
    os.close(write_end)
    try:
        data = _read(read_end, time.monotonic() + seconds, stop)
    finally:
        os.close(read_end)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # it has answered, or never will
        status = _wait(child)
    if data is None and stop():
        raise ChildFailed("was broken off: this process is to end")
    if data is None:
        raise ChildFailed(f"did not end within {seconds:g} s")
    try:
        good, value = pickle.loads(data)  # noqa: S301 - our own child wrote it
    except (EOFError, pickle.UnpicklingError) as error:
        raise ChildFailed(_death(status)) from error
    if not good:
        raise ChildFailed(f"failed: {value}")
    result: T = value
    return result


def _work(function: Callable[[], object], pipe: int, seconds: float, memory: int) -> NoReturn:
    """In the child: write what the function returns or raises, and end without any clean-up."""
    status = 1
    try:
        _prepare(seconds, memory)
        try:
            answer = pickle.dumps((True, function()))
        except MemoryError:
            answer = pickle.dumps((False, "it needs more memory than it may have"))
        except Exception as error:  # noqa: BLE001 - whatever it was, the parent says so
            answer = pickle.dumps((False, describe(error)))
        while answer:
            answer = answer[os.write(pipe, answer) :]
        status = 0
    finally:
        os._exit(status)


def describe(error: Exception) -> str:
    """An exception in one line, with the place in the program that raised it."""
    words = " ".join(f"{type(error).__name__}: {error}".split())[:_REASON_LENGTH]
    frames = traceback.extract_tb(error.__traceback__)
    return f"{words} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else words


def _prepare(seconds: float, memory: int) -> None:
    """Take off the parent's signal handlers, and bound time and memory."""
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
        score.write("1000")  # where memory runs out, this process goes and no worker


def _read(pipe: int, deadline: float, stop: Callable[[], bool]) -> bytes | None:
    """All bytes up to the end; None when the deadline or `stop` came first."""
    pieces: list[bytes] = []
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    while (seconds := deadline - time.monotonic()) > 0 and not stop():
        if ready.poll(min(seconds, _LOOK) * 1000):
            piece = os.read(pipe, 65536)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
    return None


def _wait(child: int) -> int:
    """The child's exit status; -1 if it is unknown."""
    try:
        return os.waitpid(child, 0)[1]
    except ChildProcessError:  # SIGCHLD is ignored, or another thread waited for it
        return -1


def _death(status: int) -> str:
    code: Any = os.waitstatus_to_exitcode(status) if status >= 0 else None
    if code is None or code >= 0:
        return "ended without a word"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
