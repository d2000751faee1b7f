"""What is known of a target's speed after answers of every kind."""

from __future__ import annotations

import math

import pytest

from engine.upstream.targets.answer_times import (
    FAILURE_MEMORY,
    MEMORY,
    MIN_WEIGHT,
    PER_TOKEN,
    AnswerTimes,
    add_sample,
)
from engine.values.machine_state import LocalState


@pytest.fixture
def times() -> AnswerTimes:
    return AnswerTimes(LocalState(), "target")


def average_of(*samples: tuple[float, float]) -> float:
    """The average after samples, each with its time."""
    record = LocalState().record("x")
    for sample, now in samples:
        add_sample(record, PER_TOKEN, sample, now)
    return record.number(PER_TOKEN)


def test_the_first_sample_is_the_average() -> None:
    assert average_of((3.0, 1000.0)) == 3.0


def test_after_the_memory_a_sample_replaces_most_of_the_average() -> None:
    assert average_of((3.0, 1000.0), (1.0, 1000.0 + MEMORY)) == pytest.approx(1 + 2 / math.e)


def test_a_sample_at_the_same_moment_counts_too() -> None:
    assert average_of((3.0, 1000.0), (1.0, 1000.0)) == pytest.approx(3.0 - 2.0 * MIN_WEIGHT)


def test_nothing_is_known_before_an_answer(times: AnswerTimes) -> None:
    assert (times.typical, times.failures(1000.0)) == (0.0, 0.0)


def test_a_stream_has_a_time_to_first_content_and_a_time_per_token(times: AnswerTimes) -> None:
    times.stream_began(0.5, 1000.0)
    times.stream_ended(2.0, 101, 1002.0)
    assert (times.first_content, times.per_token) == (0.5, 0.02)
    assert times.typical == pytest.approx(0.5 + 200 * 0.02)


@pytest.mark.parametrize("tokens", [0, 1])
def test_a_stream_of_one_token_says_nothing_of_the_next(times: AnswerTimes, tokens: int) -> None:
    times.stream_ended(2.0, tokens, 1002.0)
    assert times.per_token == 0.0


def test_a_short_answer_is_not_taken_for_a_fast_one(times: AnswerTimes) -> None:
    """Two targets of one speed, of which one gets long answers and the other short ones."""
    short = AnswerTimes(LocalState(), "short")
    for now in range(1000, 1200):
        times.answered(0.5 + 400 * 0.02, 400, now)
        short.answered(0.5 + 4 * 0.02, 4, now)
    assert short.typical == pytest.approx(times.typical, rel=0.15)


def test_answers_with_and_without_streams_tell_the_same(times: AnswerTimes) -> None:
    times.stream_began(0.5, 1000.0)
    times.stream_ended(2.0, 101, 1002.0)
    before = times.typical
    times.answered(0.5 + 10 * 0.02, 10, 1003.0)
    assert times.typical == pytest.approx(before)
    for now in range(1004, 1100):  # it takes twice as long now
        times.answered(1.0 + 10 * 0.04, 10, now)
    assert times.typical == pytest.approx(2 * before, rel=0.01)


def test_answers_without_tokens_have_a_time_as_a_whole(times: AnswerTimes) -> None:
    times.answered(0.3, 0, 1000.0)
    assert (times.first_content, times.per_token) == (pytest.approx(0.3), 0.0)


def test_a_caller_who_left_raises_the_average_and_never_lowers_it(times: AnswerTimes) -> None:
    times.stream_began(1.0, 1000.0)
    times.unanswered(0.1, 1010.0)
    assert times.first_content == 1.0
    times.unanswered(30.0, 1020.0)
    assert times.first_content > 10.0


def test_failures_are_a_share_and_never_all(times: AnswerTimes) -> None:
    times.judge(1000.0, failed=True)
    assert times.failures(1000.0) == 0.99
    times.judge(1010.0, failed=False)
    assert times.failures(1010.0) == pytest.approx(1 / math.e)


def test_failures_are_forgotten_without_attempts(times: AnswerTimes) -> None:
    times.judge(1000.0, failed=True)
    assert times.failures(1000.0 + FAILURE_MEMORY) == pytest.approx(0.99 / math.e)
    assert times.failures(999.0) == 0.99  # noted by another worker just now


def test_the_workers_of_a_machine_share_the_averages(times: AnswerTimes) -> None:
    state = LocalState()
    AnswerTimes(state, "target").stream_began(0.5, 1000.0)
    assert AnswerTimes(state, "target").first_content == 0.5
    assert AnswerTimes(state, "other").first_content == 0.0
