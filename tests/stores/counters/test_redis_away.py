"""A Redis server that is stopped, paused, started again, or was never there."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import gevent
import pytest
from redis import Connection
from redis.exceptions import ConnectionError as Broken

from engine.stores.counters import redis_corrections as corrections
from engine.stores.counters.redis import RedisCounters
from engine.stores.counters.redis_client import RedisClient, Unsent
from engine.stores.counters.redis_connection import RedisServer
from engine.stores.counters.redis_scripts import DATASET_KEY, RENEW, TAKE
from engine.values.counters import CountersAway
from tests.support import redis_server
from tests.support.counters import PATIENT, Limit, Worker, arrived, take, workers

RATE = [Limit("rate:a", 10, 3600.0, 2)]


@pytest.fixture
def server():
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    made = redis_server.RedisServer()
    yield made
    made.close()


def break_next_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the connection fail once, when the next answer is read."""
    read, broken = Connection.read_response, []

    def read_response(connection: Connection, **options: Any) -> object:
        if not broken:
            broken.append(connection)
            raise Broken("in the middle of the answer")
        return read(connection, **options)

    monkeypatch.setattr(Connection, "read_response", read_response)


def back(check: Callable[[], object]) -> None:
    """Wait until the server is no longer away; gevent's loop runs meanwhile."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            check()
        except CountersAway:
            gevent.sleep(0.01)
        else:
            return
    raise AssertionError("the server was not found again")


def until(worker: Worker, wanted: Callable[[object], bool]) -> list[float]:
    """Seconds that each take needed that was not as wanted, and of the first that was."""
    deadline, needed = time.monotonic() + 20, []
    while time.monotonic() < deadline:
        said, seconds = worker.says()
        needed.append(seconds)
        if wanted(said):
            return needed
    raise AssertionError("it never came")


def passed(said: object) -> bool:
    return said is True


def away(said: object) -> bool:
    return isinstance(said, str)


@pytest.mark.parametrize(
    ("trouble", "mend"), [("pause", "go_on"), ("kill", "start")], ids=["paused", "killed"]
)
def test_takes_under_load_fail_soon_and_go_on_once_the_server_is_back(server, trouble, mend):
    with workers(1, server.url, "watching") as (worker,):
        until(worker, passed)
        getattr(server, trouble)()
        needed = until(worker, away)
        for _ in range(50):
            said, seconds = worker.says()
            assert away(said)
            needed.append(seconds)
        getattr(server, mend)()
        needed += until(worker, passed)
        slow = [seconds for seconds in needed if seconds > 0.1]
        assert len(slow) <= 2  # this machine may be busy, now and then
        assert max(needed) < 1


def test_a_server_started_anew_is_found_at_the_next_take(server):
    store = RedisCounters(server.url, timeout=PATIENT)
    take(store, RATE)
    server.kill()
    server.start()
    assert take(store, RATE).remaining[0] == 8
    store.close()


def test_scripts_forgotten_by_the_server_are_told_again(server):
    store = RedisCounters(server.url, timeout=PATIENT)
    taken = take(store, RATE)
    server.say("SCRIPT FLUSH")
    assert take(store, RATE).remaining[0] == 6
    server.say("SCRIPT FLUSH")
    store.settle(taken.receipt, [0])
    arrived(store)
    store.close()
    assert take(store, RATE).remaining[0] == 6
    store.close()


def test_a_worker_connects_anew_any_number_of_times(server):
    link = RedisClient(server.url, PATIENT)
    for _ in range(250):
        assert link.call(("PING",)) == b"PONG"
        server.say("CLIENT KILL TYPE normal SKIPME yes")
    link.close()


def test_a_server_that_comes_and_goes_is_found_every_time(server):
    link = RedisClient(server.url, PATIENT)
    for _ in range(5):
        server.kill()
        with pytest.raises(CountersAway):
            link.call(("PING",))
        server.start()
        back(link.raise_if_away)
        assert link.call(("PING",)) == b"PONG"
    link.close()


def test_while_the_server_is_away_calls_wait_for_nothing(server, monkeypatch):
    server.kill()
    link = RedisClient(server.url, PATIENT)
    with pytest.raises(Unsent):
        link.call(("PING",))
    connections = []
    monkeypatch.setattr(RedisServer, "new_connection", connections.append)
    for _ in range(100):
        with pytest.raises(Unsent, match="is away"):
            link.call(("PING",))
    assert connections == []
    link.close()


def test_going_away_and_coming_back_are_said_once_each_without_the_password(server, caplog):
    with caplog.at_level(logging.DEBUG):
        link = RedisClient(server.url.replace("redis://", "redis://somebody:s3cret@"), PATIENT)
        for _ in range(20):
            with pytest.raises(CountersAway) as refused:
                link.call(("PING",))
            assert "s3cret" not in str(refused.value)
            gevent.sleep(0.01)
        server.say("ACL SETUSER somebody on >s3cret ~* +@all")
        back(link.raise_if_away)
        link.call(("PING",))
    said = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert [message.split(" is ")[1].split(":")[0] for message in said] == ["away", "back"]
    assert "s3cret" not in caplog.text
    link.close()


def test_a_server_that_lost_its_data_is_noticed_and_one_that_kept_them_is_not(server, caplog):
    link = RedisClient(server.url, PATIENT)
    link.call(("PING",))
    server.say("CLIENT KILL TYPE normal SKIPME yes")
    link.call(("PING",))
    assert link.dataset.lost_at < 0
    server.kill()
    server.start()
    link.call(("PING",))
    assert time.monotonic() - link.dataset.lost_at < 60
    assert caplog.text.count("has lost its counters") == 1
    link.close()


@pytest.mark.parametrize(
    "url",
    [
        *("redis//:s3cret@h", "http://:s3cret@h", "redis://:s3cret@h:port", ""),
        *("redis://:s3cret@h?no=such", "redis://:s3/cret@h:1x"),
    ],
)
def test_what_is_no_url_is_refused_without_the_password(url):
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
def test_the_place_in_messages_is_the_address_alone(url, place):
    assert RedisClient(url, PATIENT).name == f"redis at {place}"


@pytest.mark.parametrize("database", ["", "/0", "/3"])
def test_a_socket_of_the_same_machine_will_do(server, database):
    store = RedisCounters(
        server.unix_url + (f"?db={database[1:]}" if database else ""), timeout=PATIENT
    )
    assert take(store, RATE).remaining[0] == 8
    store.close()


def test_everything_kept_has_an_end_and_the_same_hash_tag(server):
    store = RedisCounters(server.url, timeout=PATIENT)
    first = take(store, [*RATE, Limit("budget:a", 10**15, 90 * 86400.0, 500), Limit("s", 5, 0)])
    store.settle(first.receipt, [0, 700, 1])
    take(store, [*RATE, Limit("budget:b", 10**15, 1.0, 500), Limit("t", 5, 0)])
    store.close()
    keys = [line for line in server.say("KEYS *").split(b"\r\n") if b":" in line]
    keys.remove(DATASET_KEY.encode())
    assert len(keys) == 4
    for key in keys:
        assert key.startswith(b"{modelway}:")
        life = int(server.say(f"PTTL {key.decode()}")[1:])
        assert 0 < life < 96 * 86400 * 1000, key


def test_settling_waits_for_nothing_and_is_sent_when_the_server_is_back(server, monkeypatch):
    monkeypatch.setattr(corrections, "RETRY_DELAY", 0.01)
    store = RedisCounters(server.url, timeout=PATIENT, lease=3600.0)  # no renewal wakes what sends
    receipts = [take(store, RATE).receipt for _ in range(5)]
    server.say("SAVE")
    server.kill()
    for receipt in receipts:
        store.settle(receipt, [1])
    gevent.sleep(0.05)
    assert store.waiting() == 5
    server.start()
    arrived(store)
    assert take(store, RATE).remaining[0] == 3
    store.close()


def test_what_waits_for_the_server_is_bounded(server, monkeypatch, caplog):
    monkeypatch.setattr(corrections, "MAX_QUEUED", 3)
    store = RedisCounters(server.url, timeout=PATIENT)
    receipts = [take(store, [Limit("rate:a", 100, 60.0)]).receipt for _ in range(10)]
    server.kill()
    for receipt in receipts:
        store.settle(receipt, [0])
    assert store.waiting() == 3
    assert caplog.text.count("corrections are lost") == 1
    store.close()


def test_a_server_that_is_not_there_has_been_told_nothing(server):
    server.kill()
    with pytest.raises(Unsent):
        RedisClient(server.url, PATIENT).call(("PING",), resend=False)


def test_a_connection_that_the_server_closed_loses_no_correction(server):
    store = RedisCounters(server.url, timeout=PATIENT)
    taken = take(store, RATE)
    server.say("CLIENT KILL TYPE normal SKIPME yes")
    store.settle(taken.receipt, [0])
    arrived(store)
    store.close()
    assert take(store, RATE).remaining[0] == 8
    store.close()


def test_an_answer_that_has_arrived_is_not_late_however_busy_we_were(server, monkeypatch):
    """gevent's timer comes before the answer when a worker was busy for longer than the limit."""
    link = RedisClient(server.url, PATIENT)
    link.call(("PING",))
    read, timers = Connection.read_response, []

    def busy(connection: Connection, **options: Any) -> object:
        if not timers:
            timers.append(started[-1])
            while not connection.can_read(0.01):
                pass
            raise started[-1]
        return read(connection, **options)

    started = []
    start = gevent.Timeout.start_new
    monkeypatch.setattr(
        gevent.Timeout, "start_new", lambda limit: started.append(start(limit)) or started[-1]
    )
    monkeypatch.setattr(Connection, "read_response", busy)
    assert link.call(("PING",)) == b"PONG"
    assert timers
    link.close()


def test_an_answer_of_another_kind_is_a_store_that_is_away(server):
    server.say("SET {modelway}:112500000:rate:a text")
    store = RedisCounters(server.url, timeout=PATIENT)
    with pytest.raises(CountersAway, match="WRONGTYPE"):
        take(store, RATE)
    store.close()


def test_the_script_is_known_by_the_name_the_server_gives_it(server):
    connection = RedisClient(server.url, PATIENT)
    assert connection.call(("SCRIPT", "LOAD", TAKE.source)) == TAKE.sha.encode()
    connection.close()


def test_a_slot_that_was_given_back_is_there_for_the_next_take(server):
    """In the order in which the worker said it, however soon the next take comes."""
    store = RedisCounters(server.url, timeout=PATIENT)
    one = [Limit("slots:next", 1, 0.0)]
    for _ in range(200):
        taken = take(store, one)
        assert taken.denied is None
        store.settle(taken.receipt, [1])
    store.close()


def test_a_slot_is_given_back_after_its_renewal_and_not_before(server, monkeypatch):
    store = RedisCounters(server.url, timeout=PATIENT, lease=0.15)
    taken = take(store, [Limit("slots:a", 1, 0.0)])
    call, keys_of_take = RedisClient.call, []

    def renewing(client: RedisClient, command: Any, **options: Any) -> Any:
        if command[1] == RENEW.sha and not keys_of_take:
            store.settle(taken.receipt, [1])
            keys_of_take.append(None)
            take(store, RATE)
        elif command[1] == TAKE.sha and keys_of_take == [None]:
            keys_of_take[0] = command[3 : 3 + command[2]]
        return call(client, command, **options)

    monkeypatch.setattr(RedisClient, "call", renewing)
    with gevent.Timeout(10):
        while keys_of_take in ([], [None]):
            gevent.sleep(0.01)
    assert len(keys_of_take[0]) == len(RATE), "the take carries no correction"
    arrived(store)
    assert take(store, [Limit("slots:a", 1, 0.0)]).denied is None
    store.close()


def test_what_went_with_a_take_is_told_again_to_a_server_that_forgot_its_script(server):
    store = RedisCounters(server.url, timeout=PATIENT)
    receipts = [take(store, RATE).receipt for _ in range(2)]
    store.settle(receipts[0], [0])
    server.say("SCRIPT FLUSH")
    assert take(store, RATE).denied is None
    store.close()
    assert take(RedisCounters(server.url, timeout=PATIENT), RATE).remaining[0] == 4


def test_what_went_with_a_take_that_was_never_sent_waits_on(server, monkeypatch):
    store = RedisCounters(server.url, timeout=PATIENT)
    taken = take(store, RATE)
    server.kill()
    store.settle(taken.receipt, [0])
    with pytest.raises(Unsent):
        take(store, RATE)
    assert store.waiting() == 1
    store.close()


def test_a_take_has_no_more_along_than_it_has_time_for(server, monkeypatch):
    monkeypatch.setattr(corrections, "BATCH_DELAY", 60.0)
    store = RedisCounters(server.url, timeout=PATIENT)
    wide = [Limit("rate:wide", 1000, 60.0)]
    receipts = [take(store, wide).receipt for _ in range(40)]
    for receipt in receipts:
        store.settle(receipt, [0])
    before = store.waiting()
    take(store, wide)
    assert 0 < before - store.waiting() < 40
    store.close()


def test_of_what_may_have_been_done_with_a_take_only_slots_are_given_back_again(
    server, monkeypatch
):
    monkeypatch.setattr(corrections, "BATCH_DELAY", 60.0)
    store = RedisCounters(server.url, timeout=PATIENT)
    both = [*RATE, Limit("slots:a", 5, 0.0)]
    store.settle(take(store, both).receipt, [1, 1])

    break_next_answer(monkeypatch)
    with pytest.raises(CountersAway):
        take(store, both)
    assert store.waiting() == 2, "the slot of the first, and that of the one that broke"
    back(store.ping)
    store.close()
    assert take(RedisCounters(server.url, timeout=PATIENT), RATE).remaining == [10 - 1 - 2 - 2]


@pytest.mark.parametrize(("again", "times"), [(True, b"2"), (False, b"1")])
def test_only_what_may_be_is_sent_again(server, monkeypatch, again, times):
    link = RedisClient(server.url, PATIENT)
    link.call(("PING",))

    break_next_answer(monkeypatch)
    if again:
        link.call(("INCR", "once"))
    else:
        with pytest.raises(CountersAway) as raised:
            link.call(("INCR", "once"), resend=False)
        assert not isinstance(raised.value, Unsent)
    arrived = RedisClient(server.url, PATIENT)
    assert arrived.call(("GET", "once")) == times
    arrived.close()
