"""The folder of a machine's shared memory, and counters in it."""

from __future__ import annotations

import pytest

from engine.stores.counters.memory import MemoryCounters
from tests.support.clock import MicrosecondClock
from tests.support.counters import folder


@pytest.fixture
def path():
    with folder() as path:
        yield path


@pytest.fixture
def store(path):
    clock = MicrosecondClock()
    store = MemoryCounters(path, clock=clock, wall_clock=clock)
    yield store
    store.close()
