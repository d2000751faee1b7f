"""What a child is to forget of its parent's: connections, greenlets, what was in hand.

A child has a copy of all of it as soon as it is there; gevent lets greenlets run before the code
that forked goes on.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Forgets(Protocol):
    """What can be left to the process that made it."""

    def forget(self) -> None: ...


_all: WeakSet[Forgets] = WeakSet()


def in_children(thing: Forgets) -> None:
    """Let it forget in each child of this process."""
    _all.add(thing)


def _forget() -> None:
    for thing in list(_all):
        thing.forget()


os.register_at_fork(after_in_child=_forget)
