"""The limit of file descriptors, and how many callers may be connected under it.

A request needs two descriptors, its caller's and its upstream's. So the number of callers is half
the descriptors that are free when a worker starts, less a reserve for stores, logs and files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource

from engine.process.log_throttle import LogThrottle

RESERVE = 64
"""Descriptors for what is neither a caller nor an upstream."""

_MIN_RESERVE = 22
"""Metrics, records and the state shared by workers open 14 descriptors on first use."""

_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_warning = LogThrottle()


def raise_limit(connections: int) -> None:
    """Raise the soft limit of this process to what `connections` callers need, up to the hard
    limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = 2 * connections + 4 * RESERVE
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def capacity() -> tuple[int, int]:
    """How many callers may connect to this process, given its limit and the open descriptors, and
    how many descriptors are reserved for other uses."""
    free = max(0, _limit() - _open())
    reserve = min(RESERVE, max(_MIN_RESERVE, free // 4))
    return max(1, (free - reserve) // 2), reserve


def is_exhausted(error: OSError) -> bool:
    """Whether a call failed because no descriptor, or no memory for one, was left."""
    return error.errno in _EXHAUSTED


def warn_exhausted() -> None:
    """Log that descriptors are short, at most once a minute."""
    _warning.log(
        "this worker is short of file descriptors (it may have %d): the connections that have been "
        "idle longest are closed, and where none is idle, requests are answered 503; raise "
        "LimitNOFILE in systemd, or `ulimit -n`",
        _limit(),
    )


def _limit() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _open() -> int:
    """The number of open descriptors. Without /dev/fd, the lowest free one approximates it."""
    with contextlib.suppress(OSError):
        return len(os.listdir("/dev/fd")) - 1  # `listdir` opens one itself
    spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.close(spare)
    return spare
