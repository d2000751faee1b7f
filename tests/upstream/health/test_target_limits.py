"""Which targets and credentials are asked after others by their rate limits."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.credentials.interface.credential import LiveCredential
from engine.credentials.interface.fixed import HeaderCredential
from engine.dialects.interface.rate_limits import RateLimitHeaders
from engine.exchange.request_record import RequestRecord
from engine.upstream.health.target_limits import (
    ENOUGH,
    MAX_SECONDS,
    NEARLY,
    USED_UP,
    LimitsSettings,
    TargetLimits,
    seconds_after_failure,
    seconds_last,
)
from engine.upstream.targets.credentials import Credentials
from engine.upstream.targets.target_state import OpenAttempt
from engine.values.machine_state import LocalState
from tests.support.clock import Clock
from tests.support.each import each

FORMATS = [limits for name in ("openai", "anthropic") if (limits := dialects.get(name).rate_limits)]
FIRST, SECOND = (HeaderCredential("header", "x-key", name) for name in ("first", "second"))
PLENTY = [("x-ratelimit-limit-requests", "100"), ("x-ratelimit-remaining-requests", "90")]
FEW = [
    ("x-ratelimit-limit-requests", "100"),
    ("x-ratelimit-remaining-requests", "2"),
    ("x-ratelimit-reset-requests", "98s"),
]
"""Two of 100 are left, and one more each second: in 8 seconds there are 10 again."""


class Targets:
    """Targets of one machine, with a clock."""

    def __init__(self, *names: str, credentials: Sequence[LiveCredential] = ()) -> None:
        self.clock = Clock(1000.0)
        self.machine = LocalState()
        self.limits = [self.target(name, credentials) for name in names]

    def target(self, name: str, credentials: Sequence[LiveCredential] = ()) -> TargetLimits:
        settings = LimitsSettings(
            self.machine,
            credentials,
            reserve=0.05,
            formats=FORMATS,
            unix_clock=lambda: 1_700_000_000.0,
            clock=self.clock,
        )
        return TargetLimits(name, settings)

    def places(self) -> list[int]:
        return [limits.turn(self.clock.now) for limits in self.limits]


def answer(
    limits: TargetLimits,
    headers: Sequence[tuple[str, str]],
    failure: str = "",
    credential: LiveCredential | None = None,
) -> None:
    """An attempt that ends with these headers."""
    attempt = OpenAttempt([limits], RequestRecord(), credential=credential)
    attempt.headers = headers
    if failure:
        attempt.failed(failure)
    else:
        attempt.answered()
    attempt.close()


def test_a_target_with_little_left_comes_after_the_others_until_there_is_more() -> None:
    targets = Targets("a", "b")
    answer(targets.limits[0], FEW)
    assert targets.places() == [NEARLY, ENOUGH]
    targets.clock.advance(7.9)
    assert targets.places() == [NEARLY, ENOUGH]
    targets.clock.advance(0.2)
    assert targets.places() == [ENOUGH, ENOUGH]


def test_another_worker_knows_it_too() -> None:
    targets = Targets("a", "b")
    answer(targets.target("a"), FEW)
    assert targets.places() == [NEARLY, ENOUGH]


def test_a_response_that_reports_more_ends_it() -> None:
    targets = Targets("a", "b")
    answer(targets.limits[0], FEW)
    answer(targets.limits[0], PLENTY)
    assert targets.places() == [ENOUGH, ENOUGH]


@pytest.mark.parametrize(
    ("headers", "failure", "seconds"),
    [
        ([("retry-after", "7")], "429", 7),
        ([("retry-after-ms", "2500"), ("retry-after", "7")], "429", 2.5),
        ([("retry-after", "Tue, 14 Nov 2023 22:13:30 GMT")], "429", 10),
        ([("retry-after", "86400")], "429", 60),
        ([("retry-after", "nonsense")], "429", 5),
        ([], "429", 5),
        ([("retry-after", "7")], "5xx", 7),
        ([], "5xx", 0),
        ([], "connect", 0),
    ],
)
def test_after_a_refusal_it_is_asked_last_even_if_it_is_alone(
    headers: Sequence[tuple[str, str]], failure: str, seconds: float
) -> None:
    targets = Targets("a")
    answer(targets.limits[0], headers, failure)
    now = targets.clock.now
    before = USED_UP if seconds else ENOUGH
    assert targets.limits[0].turn(now + seconds - 0.01) == before
    assert targets.limits[0].turn(now + seconds + 0.01) == ENOUGH


def test_an_answer_with_retry_after_is_no_refusal() -> None:
    targets = Targets("a")
    answer(targets.limits[0], [("retry-after", "7")])
    assert targets.places() == [ENOUGH]


def test_a_response_that_breaks_off_is_read_once() -> None:
    targets = Targets("a", "b")
    attempt = OpenAttempt([targets.limits[0]], RequestRecord())
    attempt.headers = [("retry-after", "7"), *FEW]
    attempt.answered()
    answer(targets.limits[0], PLENTY)
    attempt.failed("reset")
    attempt.close()
    assert targets.places() == [ENOUGH, ENOUGH]


def test_a_target_has_the_level_of_its_best_credential() -> None:
    targets = Targets("a", "b", credentials=[FIRST, SECOND])
    limits, now = targets.limits[0], targets.clock.now
    answer(limits, FEW, credential=FIRST)
    assert (limits.level(FIRST, now), limits.level(SECOND, now)) == (NEARLY, ENOUGH)
    assert targets.places() == [ENOUGH, ENOUGH]
    answer(limits, [], "429", credential=SECOND)
    assert (limits.level(SECOND, now), limits.best_level(now)) == (USED_UP, NEARLY)
    assert targets.places() == [NEARLY, ENOUGH]


def test_a_credential_with_little_left_is_taken_after_the_others() -> None:
    targets = Targets("a", credentials=[FIRST, SECOND])
    limits, credentials = targets.limits[0], Credentials([FIRST, SECOND])
    now = targets.clock.now
    assert [credentials.take(now, limits) for _ in range(3)] == [FIRST, SECOND, FIRST]
    answer(limits, FEW, credential=SECOND)
    assert [credentials.take(now, limits) for _ in range(3)] == [FIRST, FIRST, FIRST]
    answer(limits, [], "429", credential=FIRST)
    assert [credentials.take(now, limits) for _ in range(3)] == [SECOND, SECOND, SECOND]
    credentials.set_aside(SECOND, now + 1)
    assert credentials.take(now, limits) is FIRST


def test_a_credential_is_not_confused_with_a_target_of_a_longer_name() -> None:
    targets = Targets("a", "a/1", credentials=[FIRST, SECOND])
    answer(targets.limits[0], [], "429", credential=SECOND)
    assert targets.limits[1].level(FIRST, targets.clock.now) == ENOUGH


def test_times_of_before_a_restart_of_the_machine_are_ignored() -> None:
    targets = Targets("a", "b")
    answer(targets.limits[0], FEW)
    assert targets.limits[0].turn(5.0) == ENOUGH


NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z
OPENAI = dialects.get("openai").rate_limits
ANTHROPIC = dialects.get("anthropic").rate_limits


def openai(
    limit: str | None, remaining: str | None, reset: str | None, kind: str = "requests"
) -> list[tuple[str, str]]:
    parts = {"limit": limit, "remaining": remaining, "reset": reset}
    suffix = f"-{kind}" if kind else ""
    return [(f"x-ratelimit-{part}{suffix}", text) for part, text in parts.items() if text]


@each(
    "limit, remaining, reset, seconds",
    [
        ("1000", "51", "100s", 0.0),
        # Of the 1000, 50 to 100 are missing: 5.26 % of what is missing in all.
        ("1000", "50", "100s", 100 * 50 / 950),
        ("1000", "0", "100s", 10.0),
        ("1000", "0", "6m0s", 36.0),
        ("1000", "0", "36", 3.6),
        ("1000", "0", "2023-11-14T22:15:00Z", 10.0),
        ("1000", "0", "1700000100", 10.0),
        ("1000", "0", "1700000100000", 10.0),
        # A vendor without a limit or a reset.
        (None, "1", "20s", 0.0),
        (None, "0", "20s", 20.0),
        ("1000", "0", None, 5.0),
        (None, "0", None, 5.0),
        # A window of a day is looked at again after a minute.
        ("1000", "0", "24h", 60.0),
        ("1", "0", "24h", 60.0),
        # Values without sense say nothing, or little.
        ("1000", "0", "0s", 0.0),
        ("1000", "0", "-1s", 5.0),
        ("1000", "0", "soon", 5.0),
        ("1000", "0", "9" * 400, 5.0),
        ("1000", "0", "1e999", 5.0),
        ("1000", "0", "nan", 5.0),
        ("1000", "0", "0001-01-01T00:00:00Z", 0.0),
        ("1000", "0", "9999-12-31T23:59:59Z", 60.0),
        ("1000", "0", "1000000000", 0.0),
        ("0", "0", "100s", 0.0),
        ("1000", "-1", "100s", 0.0),
        ("1000", "1001", "100s", 0.0),
        ("1000", "none", "100s", 0.0),
        ("1000", None, "100s", 0.0),
        ("-5", "0", "100s", 60.0),
        ("9" * 30, "0", "7s", 7.0),
    ],
)
def test_seconds(limit: str | None, remaining: str | None, reset: str | None, seconds: float):
    headers = openai(limit, remaining, reset)
    assert seconds_last(OPENAI, headers, 0.05, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize("kind", ["requests", "tokens", "tokens-minute", "input-images", ""])
def test_any_kind_of_limit_counts(kind: str) -> None:
    headers = openai("1000", "0", "100s", kind)
    assert seconds_last(OPENAI, headers, 0.05, NOW) == pytest.approx(10.0)


@pytest.mark.parametrize("kind", ["requests", "tokens", "input-tokens", "output-tokens"])
def test_any_kind_of_limit_of_anthropic_counts(kind: str) -> None:
    headers = [
        (f"anthropic-ratelimit-{kind}-limit", "1000"),
        (f"anthropic-ratelimit-{kind}-remaining", "0"),
        (f"anthropic-ratelimit-{kind}-reset", "2023-11-14T22:15:00Z"),
        ("anthropic-ratelimit-unified-status", "allowed"),
    ]
    assert seconds_last(ANTHROPIC, headers, 0.05, NOW) == pytest.approx(10.0)


def test_the_longest_time_of_several_limits_counts() -> None:
    headers = [*openai("10", "0", "4s"), *openai("10", "0", "30s", "tokens")]
    assert seconds_last(OPENAI, headers, 0.5, NOW) == pytest.approx(30.0)


def test_without_a_reserve_a_target_is_asked_until_nothing_is_left() -> None:
    assert seconds_last(OPENAI, openai("1000", "1", "100s"), 0.0, NOW) == 0.0
    assert seconds_last(OPENAI, openai("1000", "0", "100s"), 0.0, NOW) == pytest.approx(0.1)


@pytest.mark.parametrize("limits", [OPENAI, ANTHROPIC, None])
def test_a_response_without_limits_says_nothing(limits: RateLimitHeaders | None) -> None:
    assert seconds_last(limits, [("content-type", "text/plain")], 0.05, NOW) == 0.0


@each(
    "failure, retry_after, seconds",
    [
        ("429", None, 5.0),
        ("429", 0.0, 0.0),
        ("429", 2.5, 2.5),
        ("429", 86_400.0, 60.0),
        ("5xx", 7.0, 7.0),
        ("5xx", None, 0.0),
        ("connect", None, 0.0),
        ("credential", None, 0.0),
    ],
)
def test_seconds_after_a_failure(failure: str, retry_after: float | None, seconds: float) -> None:
    assert seconds_after_failure(failure, retry_after) == seconds


TEXTS = st.one_of(
    st.text(max_size=30),
    st.from_regex(r"[0-9]{1,40}(\.[0-9]{1,10})?(ms|s|m|h)?", fullmatch=True),
    st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"),
)


@given(TEXTS, TEXTS, TEXTS, st.floats(0.0, 1.0))
def test_no_text_is_an_error(limit: str, remaining: str, reset: str, reserve: float) -> None:
    headers = openai(limit, remaining, reset)
    assert 0.0 <= seconds_last(OPENAI, headers, reserve, NOW) <= MAX_SECONDS
