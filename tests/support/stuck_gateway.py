"""`modelway serve` with a watchdog of SECONDS, and requests that get their worker stuck.

    python -m tests.support.stuck_gateway SECONDS serve -c gateway.yaml

A request for `/stuck/loop` computes without end, one for `/stuck/wait` waits outside of the event
loop, one for `/stuck/native` waits in C code that heeds no signal, with the interpreter's lock.
`/stuck/heavy` is the first of them in a heavy worker; it is not found elsewhere.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

from gevent.monkey import get_original

from engine.server import connection_handler, gunicorn_application
from engine.server.environ import Environ, request_environ
from engine.server.heavy_worker import HEAVY_NAME
from engine.server.http1.request import RequestHead
from modelway import main


def loop() -> None:
    while True:
        pass


def wait() -> None:
    get_original("time", "sleep")(1_000_000)


def native() -> None:
    """Take a mutex twice."""
    program, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(256)
    program.pthread_mutex_lock(mutex)
    program.pthread_mutex_lock(mutex)


def heavy() -> None:
    if Path("/proc/self/comm").read_text().strip() == HEAVY_NAME:
        loop()


_STUCK = {f"/stuck/{each.__name__}": each for each in (loop, wait, native, heavy)}


def _request_environ(connection: Environ, head: RequestHead) -> Environ:
    if head.path in _STUCK:
        _STUCK[head.path]()
    return request_environ(connection, head)


def _serve(seconds: float, words: list[str]) -> None:
    settings = gunicorn_application.settings

    def with_timeout(server: Any) -> dict[str, Any]:
        return {**settings(server), "timeout": seconds}

    gunicorn_application.settings = with_timeout
    connection_handler.request_environ = _request_environ
    sys.argv[1:] = words
    main()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2:])
