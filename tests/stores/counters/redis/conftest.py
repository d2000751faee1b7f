"""Servers with replicas that tests of counters in Redis share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import redis_sentinel
from tests.support.redis_sentinel import SentinelGroup


@pytest.fixture
def group() -> Iterator[SentinelGroup]:
    """A master, its replica and three Sentinels of the test's own."""
    if redis_sentinel.BINARY is None:
        pytest.skip(redis_sentinel.WHY_NOT)
    group = SentinelGroup()
    yield group
    group.close()
