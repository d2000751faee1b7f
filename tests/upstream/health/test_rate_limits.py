"""For how long a target is asked last by what its responses say of rate limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.dialects.interface.rate_limits import RateLimitHeaders
from engine.upstream.health.rate_limits import MAX_SECONDS, seconds_after_failure, seconds_last
from tests.support.each import each

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
