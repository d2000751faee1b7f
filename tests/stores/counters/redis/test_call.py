"""Answers after which a server is not asked any more."""

from __future__ import annotations

import pytest
from redis.exceptions import MasterDownError, OutOfMemoryError, ReadOnlyError, ResponseError

from engine.stores.counters.redis.call import is_no_master


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ReadOnlyError("You can't write against a read only replica."), True),
        (ResponseError("Error running script: -READONLY You can't write"), True),
        (MasterDownError("Link with MASTER is down"), True),
        (OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), False),
        (ResponseError("WRONGTYPE Operation against a key"), False),
    ],
)
def test_a_replica_is_no_master(error, expected):
    assert is_no_master(error) is expected
