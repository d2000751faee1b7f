"""What the errors of a server mean."""

from __future__ import annotations

import pytest
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    MasterDownError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
)
from redis.exceptions import ConnectionError as Broken

from engine.stores.counters.redis.call import is_no_master, is_refusal


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


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), True),
        (ResponseError("Error running script: -OOM command not allowed when used memory"), True),
        (ResponseError("Error running script: @user_script:9: -READONLY You can't write"), True),
        (ResponseError("MISCONF Redis is configured to save RDB snapshots"), True),
        (ResponseError("NOREPLICAS Not enough good replicas to write. script: 5f"), True),
        (ResponseError("BUSY Redis is busy running a script."), True),
        (MasterDownError("Link with MASTER is down"), True),
        (NoScriptError("No matching script. Please use EVAL."), True),
        (BusyLoadingError("Redis is loading the dataset in memory"), True),
        (AuthenticationError("Authentication required."), True),
        (NoPermissionError("User gw has no permissions to run the 'evalsha' command"), True),
        (NoPermissionError("No permissions to access a key"), True),
        # Within a script, which may have written before; the first one in Redis 7.2 and later.
        (ResponseError("ACL failure in script: User gw has no permissions to run 'hset'"), False),
        (NoPermissionError("ACL failure in script: User gw has no permissions to run"), False),
        (ResponseError("ACL failure in script: User OOM has no permissions to run"), False),
        (ResponseError("The user executing the script can't run this command"), False),
        (ResponseError("WRONGTYPE Operation against a key"), False),
        (ResponseError("Script killed by user with SCRIPT KILL... script: 5f"), False),
        (ResponseError("user_script:9: attempt to compare nil with number"), False),
        (Broken("Error while reading from READONLY:6379"), False),
        (OSError("BUSY "), False),
    ],
)
def test_a_refusal_has_executed_nothing(error, expected):
    assert is_refusal(error) is expected
