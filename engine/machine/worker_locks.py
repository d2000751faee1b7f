"""Locks of files, and numbers of workers. The system releases both when a process ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path


def try_lock(path: Path) -> int | None:
    """The descriptor of a file that this process has locked until it closes it; None while another
    process has it. OSError if the file cannot be opened."""
    fd = open_file(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError:
        os.close(fd)
        raise
    return fd


def lock_number(path_of: Callable[[int], Path]) -> tuple[int, int]:
    """The first number, from 0, whose file no other running process has locked, and the descriptor
    of the file. Call it after the fork."""
    number = 0
    while (fd := try_lock(path_of(number))) is None:
        number += 1
    return number, fd


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """Wait for the lock of a file, and hold it; its descriptor is given."""
    fd = open_file(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)


def open_file(path: Path) -> int:
    """The descriptor of a file that only this user can open; created if there is none."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
