"""Connections to Redis servers: over sockets, with TLS, as users of an ACL."""

from __future__ import annotations

import dataclasses

import pytest

from engine.stores.counters.redis.address import DEFAULTS
from engine.stores.counters.redis.counters import RedisCounters
from engine.values.calendar import Calendar
from engine.values.counters import CountersAway
from tests.support import redis_server
from tests.support.blocks import block
from tests.support.counters import RATE, Limit, arrived, take
from tests.support.peer import Authority
from tests.support.ports import free_port
from tests.support.redis_server import RedisServer

ACL = " ".join(block("docs/reference/counters.md", "ACL SETUSER").text.split())
"""What the manual says that a user needs."""


@pytest.mark.parametrize("database", ["", "/0", "/3"])
def test_a_unix_socket_works(server, database):
    store = RedisCounters(server.unix_url + (f"?db={database[1:]}" if database else ""))
    assert take(store, RATE).remaining[0] == 8
    store.close()


def test_a_user_of_an_acl_needs_no_more_than_the_manual_says(server):
    server.say(ACL.replace("PASSWORD", "s3cret"))
    store = RedisCounters(server.url.replace("redis://", "redis://gateway:s3cret@"))
    limits = [*RATE, Limit("slots:a", 5, 0), Limit("month:a", 50, Calendar("month"), 2)]
    for _ in range(3):
        result = take(store, limits)
        assert result.denied is None
        store.settle(result.receipt, [1, 1, 1])
        arrived(store)
    assert take(store, limits).remaining == [5, 4, 45]
    store.close()


def test_what_a_user_may_not_do_is_named(server):
    server.say("ACL SETUSER gateway on >s3cret ~* +@all -evalsha -eval")
    store = RedisCounters(server.url.replace("redis://", "redis://gateway:s3cret@"))
    with pytest.raises(CountersAway, match="permissions"):
        take(store, RATE)
    store.close()


def test_tls_with_an_authority_of_ones_own_and_a_client_certificate(tmp_path):
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    authority = Authority(tmp_path)
    server_pair, client_pair = authority.issue("127.0.0.1"), authority.issue("gateway")
    port = free_port()
    server = RedisServer(
        *("--tls-port", str(port), "--tls-cert-file", server_pair.cert),
        *("--tls-key-file", server_pair.key, "--tls-ca-cert-file", authority.path),
    )
    url = f"rediss://127.0.0.1:{port}/0"
    trusting = dataclasses.replace(DEFAULTS, ca=authority.path)
    known = dataclasses.replace(trusting, certificate=client_pair.cert, key=client_pair.key)
    store = RedisCounters(url, known)
    assert take(store, RATE).remaining == [8]
    store.close()
    for options in (trusting, dataclasses.replace(known, ca=None)):
        store = RedisCounters(url, options)
        with pytest.raises(CountersAway):
            take(store, RATE)
        store.close()
    server.close()
