"""Looking tokens up: what is kept, for how long, and what happens while the records are away."""

import logging
import subprocess
import sys

import gevent
import pytest
from gevent.event import Event
from msgspec.structs import replace

from engine.callers.cache import TokenCache
from engine.stores.database import tokens
from engine.stores.database.failures import DatabaseAway, DatabaseRefuses
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.tokens import Token
from engine.values.caller import Caller, digest
from engine.values.errors import GatewayError
from tests.support.clock import Clock
from tests.support.waiting import PATIENCE

ANNA, BERT = Caller("anna"), Caller("bert")


class Records:
    """Callers by digest, as the records would find them: `digests` lists those that were looked
    up, `batches` how many at once."""

    def __init__(self, **callers):
        self.callers = callers
        self.digests = []
        self.batches = []
        self.fails = None
        self.before = lambda: None

    def __call__(self, digests):
        self.digests += digests
        self.batches.append(len(digests))
        self.before()
        if self.fails is not None:
            raise self.fails
        return {hashed: self.callers[hashed] for hashed in digests if hashed in self.callers}


@pytest.fixture
def clock():
    return Clock(1000.0)


@pytest.fixture
def lookups():
    return Records(a=ANNA, b=BERT)


@pytest.fixture
def directory(lookups, clock):
    return TokenCache({"c": Caller("config")}, lookups, clock=clock)


def refusal(directory, hashed):
    with pytest.raises(GatewayError) as raised:
        directory.get(hashed)
    return raised.value


def test_the_tokens_of_the_config_come_first_and_ask_nobody(directory, lookups):
    lookups.callers["c"] = BERT
    assert directory.get("c").name == "config"
    assert lookups.digests == []


@pytest.mark.parametrize(("hashed", "caller"), [("a", ANNA), ("x", None)])
def test_a_result_is_valid_for_the_ttl(directory, lookups, clock, hashed, caller):
    for _ in range(4):
        assert directory.get(hashed) is caller
        clock.now += 4.9
    assert lookups.digests == [hashed, hashed]


def test_created_and_deleted_tokens_are_noticed_after_the_ttl(directory, lookups, clock):
    assert directory.get("a") is ANNA
    assert directory.get("x") is None
    lookups.callers = {"x": BERT}
    clock.now += 10
    assert directory.get("a") is None
    assert directory.get("x") is BERT


@pytest.mark.parametrize("kind", ["known", "unknown"])
def test_the_cache_is_bounded_and_evicts_the_least_recently_used(lookups, clock, kind):
    if kind == "known":
        lookups.callers = dict.fromkeys("pqrs", ANNA)
    directory = TokenCache({}, lookups, size=3, clock=clock)
    for hashed in "pqr" + "p" + "s":
        directory.get(hashed)
    lookups.digests.clear()
    for hashed in "prs":
        directory.get(hashed)
    assert lookups.digests == []
    directory.get("q")
    assert lookups.digests == ["q"]


def test_guesses_do_not_push_out_what_is_known(lookups, clock):
    directory = TokenCache({}, lookups, size=5, clock=clock)
    directory.get("a")
    for number in range(100):
        directory.get(f"guess {number}")
    lookups.digests.clear()
    assert directory.get("a") is ANNA
    assert lookups.digests == []


def test_any_number_of_guesses_keeps_no_caller_from_being_found(directory, lookups):
    """Those who ask at the same moment are looked up in a few batches, callers among them."""
    guesses = [gevent.spawn(directory.get, f"guess {number}") for number in range(5000)]
    callers = [gevent.spawn(directory.get, hashed) for hashed in "ab"]
    gevent.joinall([*guesses, *callers], timeout=PATIENCE)
    assert [greenlet.get(block=False) for greenlet in callers] == [ANNA, BERT]
    assert not any(greenlet.get(block=False) for greenlet in guesses)
    assert sorted(lookups.batches) == [5002 % 256, *[256] * 19]
    assert (directory.unknown, directory.lookups) == (5000, 5002)


def test_guesses_that_push_each_other_out_of_memory_are_all_answered(lookups, clock):
    directory = TokenCache({}, lookups, size=3, clock=clock)
    guesses = [gevent.spawn(directory.get, f"guess {number}") for number in range(100)]
    gevent.joinall(guesses, timeout=PATIENCE)
    assert [greenlet.get(block=False) for greenlet in guesses] == [None] * 100


def test_a_known_token_is_looked_up_again_among_guesses(directory, lookups, clock):
    directory.get("a")
    clock.now += 10
    guesses = [gevent.spawn(directory.get, f"guess {number}") for number in range(400)]
    assert directory.get("a") is ANNA
    assert "a" in lookups.digests[1:]
    gevent.joinall(guesses, timeout=PATIENCE)


@pytest.mark.parametrize(("hashed", "caller"), [("a", ANNA), ("x", None)])
def test_one_lookup_serves_all_greenlets_that_wait_for_a_token(directory, lookups, hashed, caller):
    goes_on = Event()
    lookups.before = goes_on.wait
    greenlets = [gevent.spawn(directory.get, hashed) for _ in range(50)]
    gevent.idle()
    assert lookups.digests == [hashed]
    goes_on.set()
    gevent.joinall(greenlets, timeout=PATIENCE)
    assert [greenlet.get(block=False) for greenlet in greenlets] == [caller] * 50
    assert lookups.digests == [hashed]


def test_killing_a_waiting_greenlet_does_not_block_the_others(directory, lookups):
    goes_on = Event()
    lookups.before = goes_on.wait
    first, second = gevent.spawn(directory.get, "a"), gevent.spawn(directory.get, "a")
    gevent.idle()
    first.kill()
    goes_on.set()
    assert second.get(timeout=PATIENCE) is ANNA


def test_different_tokens_are_looked_up_in_one_batch(directory, lookups):
    goes_on = Event()
    lookups.before = goes_on.wait
    greenlets = [gevent.spawn(directory.get, hashed) for hashed in "ab"]
    gevent.idle()
    assert lookups.batches == [2]
    goes_on.set()
    assert [greenlet.get(timeout=PATIENCE) for greenlet in greenlets] == [ANNA, BERT]


def test_a_new_token_does_not_wait_for_a_running_batch(directory, lookups):
    goes_on = Event()
    lookups.before = goes_on.wait
    first = gevent.spawn(directory.get, "a")
    gevent.idle()
    lookups.before = lambda: None
    assert directory.get("b") is BERT
    assert not first.ready()
    goes_on.set()
    assert first.get(timeout=PATIENCE) is ANNA


def test_no_more_than_four_batches_are_under_way(directory, lookups):
    goes_on = Event()
    lookups.before = goes_on.wait
    greenlets = []
    for number in range(10):
        greenlets.append(gevent.spawn(directory.get, f"x{number}"))
        gevent.idle()
    assert lookups.batches == [1] * 4
    goes_on.set()
    gevent.joinall(greenlets, timeout=PATIENCE, raise_error=True)
    assert sorted(lookups.batches) == [1, 1, 1, 1, 6]


def test_an_unexpected_exception_is_raised_in_all_waiters_and_blocks_no_later_lookup(
    directory, lookups
):
    lookups.fails = ZeroDivisionError()
    greenlets = [gevent.spawn(directory.get, hashed) for hashed in "ab"]
    gevent.joinall(greenlets, timeout=PATIENCE)
    assert [type(greenlet.exception) for greenlet in greenlets] == [ZeroDivisionError] * 2
    lookups.fails = None
    assert directory.get("a") is ANNA


@pytest.mark.parametrize("why", [DatabaseAway("gone"), DatabaseRefuses("no tables yet")])
def test_while_the_records_are_away_known_tokens_work_and_others_get_503(
    directory, lookups, clock, why
):
    directory.get("a")
    clock.now += 10
    lookups.fails = why
    assert directory.get("a") is ANNA
    assert directory.away
    error = refusal(directory, "b")
    assert (error.status, error.code) == (503, "store_unavailable")
    assert ("retry-after", "1") in error.headers
    assert directory.get("c").name == "config"
    assert directory.stale == 1
    assert directory.failed == 1


def test_a_token_known_as_ended_stays_ended_while_the_records_are_away(directory, lookups, clock):
    lookups.callers["a"] = replace(ANNA, expires=0.0)
    directory.get("a")
    clock.now += 10
    lookups.fails = DatabaseAway("gone")
    assert directory.get("a").expires == 0.0


def test_a_token_known_as_gone_is_not_found_in_memory(directory, lookups, clock):
    directory.get("a")
    del lookups.callers["a"]
    clock.now += 10
    directory.get("a")
    clock.now += 10
    lookups.fails = DatabaseAway("gone")
    assert refusal(directory, "a").status == 503


def test_memory_has_an_end(directory, lookups, clock):
    directory.get("a")
    lookups.fails = DatabaseAway("gone")
    clock.now += 86_399
    assert directory.get("a") is ANNA
    clock.now += 1
    assert refusal(directory, "a").status == 503


def test_lookups_back_off_while_the_records_are_unavailable(directory, lookups, clock):
    lookups.fails = DatabaseAway("gone")
    times = []
    for _ in range(200):
        before = len(lookups.digests)
        refusal(directory, f"x{len(lookups.digests)}")
        if len(lookups.digests) > before:
            times.append(clock.now - 1000)
        clock.now += 0.1
    assert times == pytest.approx([0, 1, 3, 7, 11, 15, 19], abs=0.25)


def test_a_single_lookup_probes_the_records(directory, lookups, clock):
    lookups.fails = DatabaseAway("gone")
    refusal(directory, "x")
    clock.now += 1
    goes_on = Event()
    lookups.before = goes_on.wait
    lookups.digests.clear()
    first = gevent.spawn(refusal, directory, "a")
    gevent.idle()
    greenlets = [gevent.spawn(refusal, directory, hashed) for hashed in "bde"]
    gevent.idle()
    assert lookups.digests == ["a"]
    assert [greenlet.dead for greenlet in (first, *greenlets)] == [False, True, True, True]
    goes_on.set()
    greenlets.append(first)
    gevent.joinall(greenlets, timeout=PATIENCE, raise_error=True)


def test_a_known_caller_does_not_wait_for_records_that_are_away(directory, lookups, clock):
    directory.get("a")
    clock.now += 10
    lookups.fails = DatabaseAway("gone")
    directory.get("a")
    clock.now += 1
    lookups.before = Event().wait
    with gevent.Timeout(PATIENCE):
        for _ in range(3):
            assert directory.get("a") is ANNA
            gevent.idle()
    assert lookups.digests == ["a", "a", "a"]


def test_records_that_are_back_are_used_again(directory, lookups, clock):
    directory.get("a")
    clock.now += 10
    lookups.fails = DatabaseAway("gone")
    directory.get("a")
    lookups.fails = None
    lookups.callers["a"] = replace(ANNA, expires=5.0)
    clock.now += 1
    directory.get("a")  # finds out behind its back
    gevent.idle()
    assert not directory.away
    assert directory.get("a").expires == 5.0
    assert directory.get("b") is BERT


def test_being_away_is_said_once_a_minute_and_being_back_once(directory, lookups, clock, caplog):
    caplog.set_level(logging.INFO, "modelway")
    lookups.fails = DatabaseAway("the database is gone")
    for _ in range(119):
        refusal(directory, "x")
        clock.now += 1
    lookups.fails = None
    clock.now += 10
    directory.get("x")
    directory.get("a")
    messages = [record.message for record in caplog.records]
    assert [("gone" in words, "again" in words) for words in messages] == [
        *[(True, False)] * 2,
        (False, True),
    ]


def test_records_that_never_answer_count_as_away(lookups, clock):
    directory = TokenCache({}, lookups, timeout=0.05, clock=clock)
    lookups.before = Event().wait
    assert refusal(directory, "a").status == 503
    assert directory.away


def test_a_time_limit_of_somebody_else_goes_to_them(directory, lookups):
    lookups.before = Event().wait
    with pytest.raises(gevent.Timeout) as raised, gevent.Timeout(0.05) as outer:
        directory.get("a")
    assert raised.value is outer
    assert not directory.away


def test_a_record_that_makes_no_sense_is_refused_and_says_why(directory, lookups, clock):
    sound, lookups.callers["a"] = lookups.callers["a"], ValueError("'20 EUR/30d' is in EUR")
    for _ in range(2):
        error = refusal(directory, "a")
        assert (error.status, error.code) == (500, "token_broken")
        assert "in EUR" in error.message
    assert lookups.digests == ["a"]
    assert directory.get("b") is BERT
    assert not directory.away
    lookups.callers["a"] = sound
    clock.now += 10
    assert directory.get("a") is ANNA


def test_revoked_and_rotated_tokens_expire_in_the_cache(records, clock):
    tokens.add(records, [Token("anna", digest("s"), 1.0), Token("bert", digest("t"), 1.0)])
    directory = TokenCache({}, tokens.caller_lookup(records, "USD"), clock=clock)
    assert directory.get(digest("s")).expires is None
    tokens.revoke(records, "anna", 5.0)
    tokens.rotate(records, "bert", digest("u"), 77.0, 5.0)
    clock.now += 10
    assert directory.get(digest("s")).expires == 0.0
    assert directory.get(digest("t")).expires == 77.0
    assert directory.get(digest("u")).expires is None
    assert directory.get(digest("v")) is None


WORKER = """
import sys
from gevent import monkey
monkey.patch_all()
import gevent, resource
from engine.callers.cache import TokenCache
from engine.values.errors import GatewayError
from engine.stores.database import tokens
from engine.stores.database.open_database import open_database
from engine.values.caller import digest
from tests.support.waiting import PATIENCE

database = open_database(sys.argv[1])
look_up = tokens.caller_lookup(database, "USD")
seen = {}
standstills = 0

# Counts the lookups in which the process slept while another greenlet could have run.
def lookup(digests):
    global standstills
    other, before = gevent.spawn(lambda: None), sleeps()
    try:
        return look_up(digests)
    finally:
        standstills += not other.ready() and sleeps() > before

def sleeps():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw

directory = TokenCache({}, lookup, ttl=0.05, timeout=1.0, max_backoff=0.4)
def looks(secret):
    while True:
        try:
            caller = directory.get(digest(secret))
            word = "unknown" if caller is None else caller.name
        except GatewayError as error:
            word = error.code
        seen[secret, word] = seen.get((secret, word), 0) + 1
        gevent.sleep(0.01)

def answers(secret):
    return sum(count for (asked, _), count in seen.items() if asked == secret)

SECRETS = ("s", "t", "nobody")
for secret in SECRETS:
    gevent.spawn(looks, secret)
for line in sys.stdin:
    wanted = line.split()
    seen.clear()
    with gevent.Timeout(PATIENCE):
        while not set(wanted) <= {f"{secret}:{word}" for secret, word in seen}:
            gevent.sleep(0.01)
    seen.clear()
    with gevent.Timeout(PATIENCE):
        while any(answers(secret) < 10 for secret in SECRETS):
            gevent.sleep(0.01)
    said = sorted({f"{secret}:{word}" for secret, word in seen})
    print(standstills, directory.away, *said, flush=True)
"""


@pytest.fixture
def worker(postgres):
    """Asks a worker that looks tokens up in a loop to wait for answers; what it sees then."""
    url = postgres.fresh()
    database = open_database(url)
    upgrade(database)
    tokens.add(database, [Token("anna", digest("s"), 1.0), Token("bert", digest("t"), 1.0)])
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def wait_for(*results):
        process.stdin.write(" ".join(results) + "\n")
        process.stdin.flush()
        standstills, away, *answers = process.stdout.readline().split()
        assert standstills == "0", "the worker stood still"
        return away == "True", answers

    yield wait_for
    process.kill()
    process.communicate()
    database.close()


FINE = ["nobody:unknown", "s:anna", "t:bert"]
AWAY = ["nobody:store_unavailable", "s:anna", "t:bert"]


@pytest.mark.keeps("the PostgreSQL of all tests, started again")
def test_postgresql_killed_and_restarted_under_load(postgres, worker):
    assert worker(*FINE) == (False, FINE)
    for _ in range(2):
        postgres.kill()
        try:
            assert worker(*AWAY) == (True, AWAY)
        finally:
            postgres.start()
        assert worker(*FINE) == (False, FINE)


def test_postgresql_that_answers_nothing_under_load(postgres, worker):
    assert worker(*FINE) == (False, FINE)
    with postgres.paused():
        assert worker(*AWAY) == (True, AWAY)
    assert worker(*FINE) == (False, FINE)
