"""Room for files that are mapped into memory.

A write to a mapped page for which the file system has no room ends the process (SIGBUS). So room is
reserved before a page is written.
"""

from __future__ import annotations

import errno
import os

_NOT_SUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
_BLOCK = 1 << 16


def reserve(fd: int, start: int, end: int) -> None:
    """Reserve the bytes of a file from `start` to `end`, which becomes at least that long; what it
    holds stays. OSError without room: then the file keeps its size.

    Where the file system or the C library cannot reserve, zeros are written behind its end.
    """
    size = os.fstat(fd).st_size
    try:
        if not _allocate(fd, start, end):
            at = size
            while at < end:
                at += os.pwrite(fd, bytes(min(_BLOCK, end - at)), at)
    except OSError:
        os.ftruncate(fd, size)  # a part of it may have been reserved
        raise


def _allocate(fd: int, start: int, end: int) -> bool:
    """Reserve bytes without writing them; False if that is not supported."""
    if not hasattr(os, "posix_fallocate"):
        return False
    try:
        os.posix_fallocate(fd, start, end - start)
    except OSError as error:
        if error.errno in _NOT_SUPPORTED:
            return False
        raise
    return True
