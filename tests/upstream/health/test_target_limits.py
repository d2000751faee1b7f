"""Which targets and credentials are asked after others by their rate limits."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine import dialects
from engine.credentials.interface.credential import LiveCredential
from engine.credentials.interface.fixed import HeaderCredential
from engine.exchange.request_record import RequestRecord
from engine.upstream.health.target_limits import (
    ENOUGH,
    NEARLY,
    USED_UP,
    LimitsSettings,
    TargetLimits,
)
from engine.upstream.targets.credentials import Credentials
from engine.upstream.targets.target_state import OpenAttempt
from engine.values.machine_state import LocalState
from tests.support.clock import Clock

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
