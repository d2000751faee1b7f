"""URLs of Redis servers, and connections to them."""

from __future__ import annotations

import pytest

from engine.stores.counters.redis.client import RedisClient
from engine.stores.counters.redis.counters import RedisCounters
from tests.support.counters import PATIENT, RATE, take


@pytest.mark.parametrize(
    "url",
    [
        *("redis//:s3cret@h", "http://:s3cret@h", "redis://:s3cret@h:port", ""),
        *("redis://:s3cret@h?no=such", "redis://:s3/cret@h:1x"),
    ],
)
def test_an_invalid_url_is_refused_without_the_password(url):
    with pytest.raises(ValueError, match="expected redis://") as refused:
        RedisCounters(url)
    assert "s3cret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://h", "h:6379"),
        ("rediss://me:s3cret@h:7000/2", "h:7000"),
        ("redis://[::1]:7", "::1:7"),
        ("unix:///run/r.sock?password=s3cret", "/run/r.sock"),
    ],
)
def test_the_name_in_messages_is_the_address_alone(url, place):
    assert RedisClient(url, PATIENT).name == f"redis at {place}"


@pytest.mark.parametrize("database", ["", "/0", "/3"])
def test_a_unix_socket_works(server, database):
    store = RedisCounters(
        server.unix_url + (f"?db={database[1:]}" if database else ""), timeout=PATIENT
    )
    assert take(store, RATE).remaining[0] == 8
    store.close()
