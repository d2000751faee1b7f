"""Computes in a thread, while the event loop of this one goes on.

For a function that spends its time in a call of C that frees the interpreter: anything else would
only take its turns from the loop. There is one thread, so that one core stays for the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

import gevent
from gevent.threadpool import ThreadPool

Result = TypeVar("Result")


def in_native_thread(function: Callable[[], Result]) -> Result:
    """What a function returns. It must not touch anything of gevent's. Raises what it raises."""
    result: Result = _pool(gevent.get_hub()).apply(function)
    return result


@cache
def _pool(hub: object) -> ThreadPool:
    """The thread of a hub. A fork has another one: gevent starts it anew."""
    return ThreadPool(1)
