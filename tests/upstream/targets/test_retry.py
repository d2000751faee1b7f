"""Which failures are retried, after how long, and how often in all."""

from __future__ import annotations

import gzip
import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.upstreams import Retry
from engine.upstream.client import failures
from engine.upstream.targets import retry
from engine.upstream.targets.retry import note_wait
from tests.support.each import each
from tests.support.upstreams import JSON, FakeResponse, failure

EVERY = Retry().on
EVERY_STATUS = range(200, 600)
CLASSES = {401: "credential", 402: "credential", 403: "credential", 408: "408", 429: "429"} | (
    dict.fromkeys({*range(500, 600)} - {501, *range(505, 509), 510, 511}, "5xx")
)


@each("status", EVERY_STATUS)
def test_a_status_has_a_class_or_is_relayed(status: int) -> None:
    assert retry.status_class(status) == CLASSES.get(status, "")


KINDS = failures.UpstreamFailure.__subclasses__()
BEFORE = {
    "connect": "connect",
    "connect_timeout": "connect",
    "reset": "reset",
    "answer": "error",  # complete, and cannot be translated
    "credential": "credential",  # not sent
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_failure_before_a_response_is_retried_unless_the_upstream_may_be_processing(
    kind: type[failures.UpstreamFailure],
) -> None:
    assert retry.failure_class(kind.kind) == BEFORE.get(kind.kind, "")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_stream_that_breaks_before_content_is_retried_but_not_a_slow_one(
    kind: type[failures.UpstreamFailure],
) -> None:
    expected = BEFORE | {"truncated": "reset", "protocol": "reset"}
    assert retry.failure_class(kind.kind, stream=True) == expected.get(kind.kind, "")


@pytest.mark.parametrize(
    ("failure", "counts_against_target"),
    [
        ("connect", True),
        ("reset", True),
        ("408", True),
        ("5xx", True),
        ("error", True),
        ("fatal", True),
        ("429", False),
        ("credential", False),
        ("", False),
    ],
)
def test_failures_that_count_against_a_target(failure: str, counts_against_target: bool) -> None:
    assert retry.counts_against_target(failure) is counts_against_target


def test_every_class_that_may_be_retried_is_retried_by_default() -> None:
    classes = {*map(retry.status_class, EVERY_STATUS), retry.error_event_class(None)}
    classes |= {retry.failure_class(kind.kind, stream=False) for kind in KINDS}
    assert classes - {"", "credential", "fatal"} == EVERY


@pytest.mark.parametrize("failure", sorted(EVERY))
def test_a_class_is_retried_only_if_it_is_named(failure: str) -> None:
    assert retry.may_retry(failure, {failure})
    assert not retry.may_retry(failure, EVERY - {failure})


def test_a_refused_credential_is_always_retried_and_a_fatal_failure_never() -> None:
    assert retry.may_retry("credential", ())
    assert not retry.may_retry("fatal", EVERY)
    assert not retry.may_retry("", EVERY)


# How long to wait.


@given(st.integers(0, 20), st.floats(0, 1, exclude_max=True))
def test_backoff_has_full_jitter_below_a_doubling_bound(tries: int, dice: float) -> None:
    bound = min(8.0, 0.25 * 2**tries)
    assert retry.backoff(tries, lambda: dice) == pytest.approx(dice * bound)
    assert 0 <= retry.backoff(tries, lambda: dice) < bound


NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ms", "seconds", "wait"),
    [
        (None, None, None),
        (None, "7", 7.0),
        (None, " 7 ", 7.0),
        (None, "1.5", 1.5),
        (None, "7\x1f", 7.0),
        ("250\x1f", "7", 0.25),
        (None, "0", 0.0),
        ("250", None, 0.25),
        ("250", "7", 0.25),
        ("1.5", "7", 0.0015),
        ("0", "7", 0.0),
        # A value that is not valid is ignored.
        ("soon", "7", 7.0),
        ("", "7", 7.0),
        ("-1", "7", 7.0),
        (None, "", None),
        (None, "soon", None),
        (None, "-5", None),
        (None, "+5", None),
        (None, "1e9", None),
        (None, "inf", None),
        (None, "nan", None),
        (None, "7s", None),
        (None, "\u0667", None),
        (None, "9" * 400, None),
        (None, "Sat, 21 Nov 99999999999999999999 12:00:07 GMT", None),
        (None, "Sat, 99 Nov 2026 12:00:07 GMT", None),
        # Dates, in the three forms of RFC 9110 section 5.6.7.
        (None, "Sat, 21 Nov 2026 12:00:07 GMT", 7.0),
        (None, "Sat, 21 Nov 2026 14:00:07 +0200", 7.0),
        (None, "Saturday, 21-Nov-26 12:00:07 GMT", 7.0),
        (None, "Sat Nov 21 12:00:07 2026", 7.0),
        (None, "Sat, 21 Nov 2026 11:59:00 GMT", 0.0),
        (None, "Fri, 31 Dec 1999 23:59:59 GMT", 0.0),
    ],
)
def test_the_wait_that_headers_ask_for(
    ms: str | None, seconds: str | None, wait: float | None
) -> None:
    assert retry.retry_delay(ms, seconds, NOW.timestamp()) == wait


def test_a_date_without_a_zone_is_in_utc(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        wait = retry.retry_delay(None, "Sat Nov 21 12:00:07 2026", NOW.timestamp())
    finally:
        monkeypatch.undo()
        time.tzset()
    assert wait == 7.0


@given(st.integers(0, 10**9))
def test_a_date_is_the_seconds_until_then(ahead: int) -> None:
    moment = NOW + timedelta(seconds=ahead)
    header = format_datetime(moment, usegmt=True)
    assert retry.retry_delay(None, header, NOW.timestamp()) == ahead


@given(
    st.none() | st.text(max_size=40),
    st.text(max_size=40)
    | st.from_regex(
        r"[A-Z][a-z]{2}, ?[0-9]{1,12} [A-Z][a-z]{2} -?[0-9]{1,24} [0-9:]{1,20} [-+A-Z0-9]{0,12}",
        fullmatch=True,
    )
    | st.builds(
        "{}, {} {} {} {}:{}:{} {}".format,
        st.sampled_from(["Mon", "x"]),
        st.integers(-5, 10**20),
        st.sampled_from(["Jan", "Feb", "May", "x"]),
        st.integers(-5, 10**20),
        st.integers(0, 70),
        st.integers(0, 70),
        st.integers(0, 10**12),
        st.sampled_from(["GMT", "+9999", "-2400", "+99999999999999999999", "x", ""]),
    ),
)
def test_no_header_of_an_upstream_raises(ms: str | None, seconds: str) -> None:
    wait = retry.retry_delay(ms, seconds, NOW.timestamp())
    assert wait is None or 0 <= wait < float("inf")


# How often in all.


@given(st.lists(st.booleans(), max_size=400), st.floats(0, 1), st.integers(0, 20))
def test_retries_are_never_more_than_their_share_and_the_spare(
    steps: list[bool], share: float, spare: int
) -> None:
    budget, requests, may_retry = retry.Budget(share, spare), 0, 0
    for is_retry in steps:
        if is_retry:
            may_retry += budget.take()
        else:
            budget.request()
            requests += 1
        assert may_retry <= requests * share + spare + 1e-6


def test_in_an_outage_a_fifth_of_the_requests_is_retried() -> None:
    budget = retry.Budget(0.2)
    may_retry = 0
    for _ in range(1000):
        budget.request()
        may_retry += budget.take()
    assert 200 <= may_retry <= 210


def test_successes_save_no_more_than_the_spare() -> None:
    budget = retry.Budget(0.2)
    for _ in range(10_000):
        budget.request()
    assert sum(budget.take() for _ in range(100)) == 10


def test_a_budget_of_0_has_its_spare() -> None:
    budget = retry.Budget(0, spare=2)
    budget.request()
    assert [budget.take() for _ in range(3)] == [True, True, False]


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36.4s"}
ERROR = {"error": {"code": 429, "message": "slow down", "details": [{"reason": "x"}, RETRY]}}


def noted(body: bytes, *headers: tuple[str, str]) -> FakeResponse:
    received: Any = FakeResponse(429, [*JSON, *headers], [body[:9], body[9:]])
    note_wait(received, received)
    left = b"".join(received.pieces)
    assert left == body  # it is read again
    return received  # type: ignore[no-any-return]


@each(
    ("document", "expected"),
    [
        (ERROR, "37"),
        ([ERROR], "37"),
        (ERROR["error"], "37"),
        ({"error": {"details": [{"retryDelay": "0s"}]}}, None),
        ({"error": {"details": [{"retryDelay": "soon"}, 7]}}, None),
        ({"error": {"details": {"retryDelay": "1s"}}}, None),
        ({"error": "slow down"}, None),
        ([], None),
        ("slow down", None),
    ],
)
def test_the_delay_is_rounded_up_to_seconds(document: Any, expected: str | None) -> None:
    assert noted(json.dumps(document).encode()).header("retry-after") == expected


def test_an_encoded_body_is_read_too() -> None:
    packed = gzip.compress(json.dumps(ERROR).encode())
    assert noted(packed, ("content-encoding", "gzip")).header("retry-after") == "37"


@each("late", [[5.0, b"{}"], [b"{", 5.0, b"}"]])
def test_a_body_that_is_late_is_left(late: list[bytes | float]) -> None:
    received: Any = FakeResponse(429, JSON, late)
    note_wait(received, received)
    assert received.header("retry-after") is None
    assert received.pieces[-1] == late[-1]


def test_a_body_that_comes_in_drops_is_left_after_a_second() -> None:
    drops = [b" "] * 50
    received: Any = FakeResponse(429, JSON, drops)
    times = iter(range(100))
    note_wait(received, received, clock=lambda: next(times) / 10)
    assert b"".join(received.pieces) == b"".join(drops)
    assert len(received.pieces) > 40


def test_a_body_that_breaks_off_fails_for_its_reader() -> None:
    received: Any = FakeResponse(429, JSON, [b"{", failure(failures.Truncated)])
    note_wait(received, received)
    assert received.header("retry-after") is None
    assert received.pieces[0] == b"{"


@each("header", ["retry-after", "retry-after-ms"])
def test_a_header_of_the_upstream_counts(header: str) -> None:
    received = noted(json.dumps(ERROR).encode(), (header, "5"))
    assert [value for name, value in received.headers if name.startswith("retry")] == ["5"]
