"""The scripts as the server has them: their SHA-1, their keys, and a server without them."""

from __future__ import annotations

from engine.stores.counters.redis.address import RedisOptions
from engine.stores.counters.redis.counters import RedisCounters
from engine.stores.counters.redis.scripts import TAKE
from engine.values.calendar import Calendar
from tests.support.counters import RATE, Limit, client_at, take, wait_for_corrections


def test_scripts_that_the_server_lost_are_sent_again(server):
    store = RedisCounters(server.url)
    result = take(store, RATE)
    server.say("SCRIPT FLUSH")
    assert take(store, RATE).remaining[0] == 6
    server.say("SCRIPT FLUSH")
    store.settle(result.receipt, [0])
    wait_for_corrections(store)
    store.close()
    assert take(store, RATE).remaining[0] == 6
    store.close()


def test_every_key_expires_and_has_the_same_hash_tag(server):
    store = RedisCounters(server.url)
    first = take(store, [*RATE, Limit("budget:a", 10**15, 90 * 86400.0, 500), Limit("s", 5, 0)])
    store.settle(first.receipt, [0, 700, 1])
    take(store, [Limit("money:a", 5, Calendar("month"), 2)])
    take(store, [*RATE, Limit("budget:b", 10**15, 1.0, 500), Limit("t", 5, 0)])
    store.close()
    keys = [line for line in server.say("KEYS *").split(b"\r\n") if b":" in line]
    keys.remove(b"{modelway}:mark")
    assert len(keys) == 5
    for key in keys:
        assert key.startswith(b"{modelway}:")
        life = int(server.say(f"PTTL {key.decode()}")[1:])
        assert 0 < life < 96 * 86400 * 1000, key


def test_gateways_with_other_prefixes_share_nothing(server):
    stores = [RedisCounters(server.url, RedisOptions(prefix=name)) for name in ("test", "live")]
    for store in stores:
        assert [take(store, [Limit("rate:a", 5, 3600.0)]).denied for _ in range(6)] == [
            None
        ] * 5 + [0]
        store.close()
    keys = [line for line in server.say("KEYS *").split(b"\r\n") if b":" in line]
    assert {key.partition(b":")[0] for key in keys} == {b"{test}", b"{live}"}


def test_the_sha_of_a_script_is_the_servers(server):
    connection = client_at(server.url)
    assert connection.call(("SCRIPT", "LOAD", TAKE.source)) == TAKE.sha.encode()
    connection.close()


def test_corrections_of_a_take_survive_a_lost_script(server):
    store = RedisCounters(server.url)
    receipts = [take(store, RATE).receipt for _ in range(2)]
    store.settle(receipts[0], [0])
    server.say("SCRIPT FLUSH")
    assert take(store, RATE).denied is None
    store.close()
    assert take(RedisCounters(server.url), RATE).remaining[0] == 4
