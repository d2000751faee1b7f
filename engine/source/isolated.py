"""Temporary memory: used in a child process, or released to the system at once.

Python keeps freed memory: a process stays as large as it was when it read a large document.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import pickle
import posix as system  # gevent replaces parts of os by functions that wait for its loop
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

log = logging.getLogger("modelway")


def run_in_child(function: Callable[..., Result], *arguments: object) -> Result:
    """Call the function in a child process, whose memory is released when it ends.

    The result is pickled; other changes by the function are lost. The function is called in this
    process if it has threads (a child would inherit their locks, but not the threads), if no
    process can be created, and if the child fails: exceptions are raised in this process.
    """
    if threading.active_count() > 1:
        return function(*arguments)
    reading_end, writing_end = system.pipe()
    try:
        child = system.fork()
    except OSError as error:
        system.close(reading_end)
        system.close(writing_end)
        log.info("no child process can be created, this process does its work: %s", error)
        return function(*arguments)
    if child == 0:
        _answer(writing_end, function, arguments)
    system.close(writing_end)
    with open(reading_end, "rb") as pipe:
        data = pipe.read()
    try:
        _, status = system.waitpid(child, 0)
    except ChildProcessError:  # SIGCHLD is ignored: its exit status is unknown
        status = -1
    if status != 0:
        log.info("the child process ended with status %d, this process repeats its work", status)
        return function(*arguments)
    result: Result = pickle.loads(data)  # noqa: S301 - our own child wrote it
    return result


def _answer(pipe: int, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
    """Write the result and end the process, without the exit handlers of the parent."""
    status = 1
    try:
        with open(pipe, "wb") as file:
            pickle.dump(function(*arguments), file, pickle.HIGHEST_PROTOCOL)
        status = 0
    finally:
        system._exit(status)


def release_memory() -> None:
    """Collect unreachable cycles, and return free memory of the C library to the system."""
    gc.collect()
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
    if trim is not None:
        trim(0)
