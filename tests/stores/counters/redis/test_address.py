"""URLs of Redis servers, Sentinels and clusters."""

from __future__ import annotations

import pytest

from engine.stores.counters.redis.address import DEFAULTS, RedisOptions, parse
from engine.stores.counters.redis.counters import RedisCounters
from tests.support.counters import client_at


@pytest.mark.parametrize(
    "url",
    [
        *("redis//:s3cret@h", "http://:s3cret@h", "redis://:s3cret@h:port", ""),
        *("redis://:s3cret@h?no=such", "redis://:s3/cret@h:1x", "redis://:s3cret@h/name"),
        *("redis+sentinel://:s3cret@a,/m", "redis+sentinel://:s3cret@a/m/name"),
    ],
)
def test_an_invalid_url_is_refused_without_the_password(url):
    with pytest.raises(ValueError, match="expected redis://") as excinfo:
        RedisCounters(url)
    assert "s3cret" not in str(excinfo.value)
    assert excinfo.value.__cause__ is None
    assert excinfo.value.__suppress_context__


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
    assert client_at(url).name == f"redis at {place}"


def test_a_url_of_sentinels_names_them_and_a_master():
    options = RedisOptions(sentinel_user="watcher", sentinel_password="other")
    address = parse("redis+sentinel://me:s3%2Fcret@a,b:1,[::1]/limits/3", options)
    assert (address.kind, address.master) == ("sentinel", "limits")
    assert [each.name for each in address.sentinels] == ["a:26379", "b:1", "::1:26379"]
    master, sentinel = address.endpoints[0].arguments, address.sentinels[0].arguments
    assert (master["username"], master["password"], master["db"]) == ("me", "s3/cret", 3)
    assert (sentinel["username"], sentinel["password"]) == ("watcher", "other")


def test_a_url_of_a_cluster_names_nodes():
    address = parse("redis+cluster://:s3cret@a,b:7001", DEFAULTS)
    assert (address.kind, [each.name for each in address.endpoints]) == (
        "cluster",
        ["a:6379", "b:7001"],
    )
    assert address.endpoints[1].arguments["password"] == "s3cret"


def test_the_options_of_tls_are_those_of_redis_py():
    options = RedisOptions(ca="/ca.pem", certificate="/a.pem", key="/a.key")
    (endpoint,) = parse("rediss+cluster://a", options).endpoints
    files = {"ssl_ca_certs": "/ca.pem", "ssl_certfile": "/a.pem", "ssl_keyfile": "/a.key"}
    assert files.items() <= endpoint.arguments.items()
    assert not files.keys() & parse("redis://a", options).endpoints[0].arguments.keys()
