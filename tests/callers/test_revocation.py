"""Which tokens of open requests are no longer valid, and the sweep that ends the requests."""

import gevent
import pytest

from engine.callers.cache import TokenCache
from engine.callers.jwt.identity import revocable, unrevocable
from engine.callers.revocation import REMOVED, TokenValidity, sweep
from engine.stores.database.failures import DatabaseAway
from engine.values.caller import Caller
from tests.support.clock import Clock
from tests.support.exchanges import new_exchange

CONFIG = {
    "lasting": Caller("lasting"),
    "short": Caller("short", expires=1010.0),
}


class Records:
    """Callers by digest; `away`: they cannot be read."""

    def __init__(self, **callers):
        self.callers = callers
        self.away = False
        self.digests = []

    def __call__(self, digests):
        self.digests += digests
        if self.away:
            raise DatabaseAway("gone")
        return {digest: self.callers[digest] for digest in digests if digest in self.callers}


@pytest.fixture
def clock():
    return Clock(1000.0)


@pytest.fixture
def records():
    return Records(stored=Caller("stored"), dated=Caller("dated", expires=1010.0))


@pytest.fixture
def validity(clock, records):
    cache = TokenCache(CONFIG, records, ttl=10.0, clock=clock)
    return TokenValidity(CONFIG, cache, 10.0, dict, clock)


def test_without_records_only_the_config_decides(clock):
    validity = TokenValidity(CONFIG, None, 10.0, dict, clock)
    assert validity.revoked(["lasting", "short"]) == set()
    clock.now = 1010.0
    assert validity.revoked(["lasting", "short", "other"]) == {"short", "other"}


def test_a_token_that_a_later_config_removed_or_shortened_ends(clock):
    ended = {"lasting": REMOVED, "short": 1005.0}
    validity = TokenValidity(CONFIG, None, 10.0, lambda: ended, clock)
    assert validity.revoked(["lasting", "short"]) == {"lasting"}
    clock.now = 1005.0
    assert validity.revoked(["short"]) == {"short"}


def test_signed_tokens_end_when_they_or_their_issuers_are_removed(clock):
    signed = [
        *(revocable("a", "1", "ada"), revocable("a", "2", "ada"), unrevocable("b", "0a", "ada")),
        *(revocable("c", "1", "eve"), revocable("a", "3", "eve")),
    ]
    ended = dict.fromkeys(("jwt:a\n1", "jwt:b", "jwt:c\n\neve"), REMOVED)
    validity = TokenValidity(CONFIG, None, 10.0, lambda: ended, clock)
    assert validity.revoked(signed) == {signed[0], signed[2], signed[3]}


def test_what_the_config_of_the_worker_revokes_ends_nothing_that_it_has_admitted(clock):
    ended = {"jwt:a\n\nada": REMOVED}
    validity = TokenValidity(CONFIG, None, 10.0, lambda: ended, clock, {"jwt:a\n\nada"})
    assert validity.revoked([revocable("a", "1", "ada")]) == set()


def test_a_removed_token_that_the_records_have_goes_on(clock, records):
    records.callers["lasting"] = Caller("lasting")
    cache = TokenCache(CONFIG, records, clock=clock)
    ended = {"lasting": REMOVED, "short": REMOVED}
    validity = TokenValidity(CONFIG, cache, 10.0, lambda: ended, clock)
    assert validity.revoked(["lasting", "short"]) == {"short"}


def test_tokens_of_the_records_end_when_they_are_deleted_revoked_or_expire(
    validity, records, clock
):
    assert validity.revoked(["stored", "dated"]) == set()
    clock.now = 1010.0
    del records.callers["stored"]
    assert validity.revoked(["stored", "dated"]) == {"stored", "dated"}


def test_a_token_is_looked_up_before_its_entry_and_the_interval_are_as_old_as_the_ttl(
    validity, records, clock
):
    validity.revoked(["stored"])
    clock.now += validity.interval - 0.1
    validity.revoked(["stored"])
    assert records.digests == ["stored"]
    clock.now += 0.1
    validity.revoked(["stored"])
    assert records.digests == ["stored", "stored"]
    assert 2.4 * validity.interval < 10.0  # with the jitter of a periodic task


def test_while_the_records_are_away_nothing_is_revoked_but_what_has_expired(
    validity, records, clock
):
    validity.revoked(["stored", "dated"])
    records.away = True
    clock.now += 5.0
    assert validity.revoked(["stored", "dated", "never-seen"]) == set()
    clock.now += 90_000.0  # longer than a cached token admits requests
    assert validity.revoked(["stored", "dated", "never-seen"]) == {"dated"}


def test_an_invalid_record_is_not_a_revoked_one(validity, records):
    records.callers["stored"] = ValueError("no list")
    assert validity.revoked(["stored"]) == set()


def test_a_short_ttl_does_not_make_the_sweep_a_busy_loop(clock):
    assert TokenValidity({}, None, 0.0, dict, clock).interval >= 0.1


def exchange_of(token):
    exchange = new_exchange()
    exchange.token = token
    return exchange


def test_the_sweep_ends_every_request_of_a_token_and_asks_once_for_each_token():
    asked, ended = [], []
    exchanges = [exchange_of(token) for token in ("good", "bad", "", "bad")]

    class Validity:
        interval = 60.0

        def revoked(self, digests):
            asked.append(sorted(digests))
            return {"bad"}

    task = sweep(lambda: exchanges, Validity(), ended.append, lambda: 0.0)
    task.start()
    gevent.sleep(0)
    task.stop(1.0)
    assert asked == [["bad", "good"]]
    assert ended == [exchanges[1], exchanges[3]]


def test_without_open_requests_nothing_is_looked_up():
    asked = []

    class Validity:
        interval = 60.0
        revoked = asked.append

    task = sweep(lambda: [exchange_of("")], Validity(), asked.append, lambda: 0.0)
    task.start()
    gevent.sleep(0)
    task.stop(1.0)
    assert asked == []
