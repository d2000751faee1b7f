"""Rate limits of one vendor in the headers of another."""

from __future__ import annotations

import pytest

from engine import dialects
from engine.dialects.interface.rate_limits import (
    RateLimitHeaders,
    read_duration,
    read_timestamp,
    translate_limits,
    write_duration,
    write_timestamp,
)

NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z
OPENAI = dialects.get("openai").rate_limits
ANTHROPIC = dialects.get("anthropic").rate_limits
OTHER = ("retry-after", "7")

OPENAI_HEADERS = [
    ("x-ratelimit-limit-requests", "60"),
    ("x-ratelimit-remaining-requests", "59"),
    ("x-ratelimit-reset-requests", "1s"),
    ("x-ratelimit-limit-tokens", "150000"),
    ("x-ratelimit-remaining-tokens", "149984"),
    ("x-ratelimit-reset-tokens", "6m0s"),
]
ANTHROPIC_HEADERS = [
    ("anthropic-ratelimit-requests-limit", "60"),
    ("anthropic-ratelimit-requests-remaining", "59"),
    ("anthropic-ratelimit-requests-reset", "2023-11-14T22:13:21Z"),
    ("anthropic-ratelimit-tokens-limit", "150000"),
    ("anthropic-ratelimit-tokens-remaining", "149984"),
    ("anthropic-ratelimit-tokens-reset", "2023-11-14T22:19:20Z"),
]


def test_limits_of_openai_are_written_as_anthropics() -> None:
    headers = [OTHER, *OPENAI_HEADERS]
    assert translate_limits(headers, OPENAI, ANTHROPIC, NOW) == [OTHER, *ANTHROPIC_HEADERS]


def test_limits_of_anthropic_are_written_as_openais() -> None:
    headers = [*ANTHROPIC_HEADERS, OTHER]
    assert translate_limits(headers, ANTHROPIC, OPENAI, NOW) == [OTHER, *OPENAI_HEADERS]


@pytest.mark.parametrize("target", [OPENAI, None])
def test_limits_pass_where_there_is_no_other_form(target: RateLimitHeaders | None) -> None:
    assert translate_limits(OPENAI_HEADERS, OPENAI, target, NOW) == OPENAI_HEADERS


def test_values_of_another_form_are_dropped() -> None:
    headers = [
        ("x-ratelimit-limit-requests", "9" * 5_000),
        ("x-ratelimit-remaining-requests", "-1"),
        ("x-ratelimit-reset-requests", "soon"),
        ("x-ratelimit-limit-tokens", "7"),
    ]
    expected = [("anthropic-ratelimit-tokens-limit", "7")]
    assert translate_limits(headers, OPENAI, ANTHROPIC, NOW) == expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("20ms", 0.02),
        ("6m0s", 360),
        ("1h2m3.5s", 3723.5),
        ("7.66s", 7.66),
        ("0s", 0),
        ("999999999h", 366 * 86_400),
        ("", None),
        ("1", None),
        ("1d", None),
        ("-1s", None),
        ("1.2.3s", None),
        ("9" * 5_000 + "s", None),
    ],
)
def test_a_duration_is_read(text: str, seconds: float | None) -> None:
    assert read_duration(text, NOW) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0ms"), (0.02, "20ms"), (1, "1s"), (59.9999, "1m0s"), (360, "6m0s"), (3723.5, "1h2m3.5s")],
)
def test_a_duration_is_written(seconds: float, text: str) -> None:
    assert write_duration(seconds, NOW) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2023-11-14T22:13:30Z", 10),
        ("2023-11-15T00:13:30.5+02:00", 10.5),
        ("2020-01-01T00:00:00Z", 0),
        ("9999-12-31T23:59:59Z", 366 * 86_400),
        ("2023-11-14T22:13:30", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_moment_is_read(text: str, seconds: float | None) -> None:
    assert read_timestamp(text, NOW) == seconds


def test_a_moment_is_written_in_whole_seconds() -> None:
    assert write_timestamp(0.5, NOW) == "2023-11-14T22:13:21Z"
