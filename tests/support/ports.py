"""Ports of 127.0.0.1 for servers that tests start."""

from __future__ import annotations

import os
import random
import socket
from itertools import chain

_PORTS = range(20_000, 32_000)
"""Below the kernel's ephemeral range."""

_WORKERS = 16
_FIRST = int(os.environ.get("MODELWAY_TEST_PORTS", "0"))
"""The number of the first worker's share: another in each of two runs side by side."""

_number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_worker = (_FIRST + _number) % _WORKERS
_share = _PORTS[_worker::_WORKERS]
_used = random.randrange(len(_share))


def free_port() -> int:
    """A free port. No other worker of the gate gets it; this one reuses it last."""
    global _used
    for index in chain(range(_used + 1, len(_share)), range(_used + 1)):
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind(("127.0.0.1", _share[index]))
            except OSError:
                continue
            _used = index
            return _share[index]
    raise AssertionError("all ports for tests are in use")
