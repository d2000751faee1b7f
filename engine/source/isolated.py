"""Memory that is needed for a moment only: used in another process, or given back at once.

Python keeps what it once took: a process stays as large as it was when it read a large document.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import pickle
import posix as system  # what gevent puts in place of some of os waits for its loop
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Made = TypeVar("Made")

log = logging.getLogger("modelway")


def run_in_child(function: Callable[..., Made], *arguments: object) -> Made:
    """What the function returns, made in a child process: its memory goes when that ends.

    The value is pickled on its way, and nothing else that the function changes is seen here. It is
    called here where there are threads (a child would have their locks and not them), where no
    process can be made, and where the child fails: its exceptions are raised from here.
    """
    if threading.active_count() > 1:
        return function(*arguments)
    ours, theirs = system.pipe()
    try:
        child = system.fork()
    except OSError as error:
        system.close(ours)
        system.close(theirs)
        log.info("no process can be made, it is done in this one: %s", error)
        return function(*arguments)
    if child == 0:
        _answer(theirs, function, arguments)
    system.close(theirs)
    with open(ours, "rb") as pipe:
        data = pipe.read()
    try:
        _, status = system.waitpid(child, 0)
    except ChildProcessError:  # SIGCHLD is ignored here: nobody knows how it ended
        status = -1
    if status != 0:
        log.info("the process that was to do it ended with status %d: done again here", status)
        return function(*arguments)
    made: Made = pickle.loads(data)  # noqa: S301 - our own child wrote it
    return made


def _answer(pipe: int, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
    """Write the value and end the process; nothing that the parent would do at its end is done."""
    status = 1
    try:
        with open(pipe, "wb") as file:
            pickle.dump(function(*arguments), file, pickle.HIGHEST_PROTOCOL)
        status = 0
    finally:
        system._exit(status)


def release_memory() -> None:
    """Give the system what is free: unreachable cycles, and what the C library kept of memory."""
    gc.collect()
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
    if trim is not None:
        trim(0)
