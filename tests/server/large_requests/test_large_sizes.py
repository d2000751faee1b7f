"""A body is large by its size, and by what bodies of its operation have cost."""

from __future__ import annotations

import logging
import math

import pytest

from engine.exchange.caller_connection import MIN_COSTLY
from engine.process.loop_turn import SECONDS
from engine.server.large_requests.large_sizes import HOLD, PRESUMED, LargeSizes, Lesson
from engine.server.large_requests.pass_requests import NothingPasses
from tests.support.each import each

ABOVE = 128_000


@each(
    ("size", "seconds", "above"),
    [
        (100_000, 2 * SECONDS, 50_000),  # in proportion
        (100_000, SECONDS, ABOVE),  # others may wait as long
        (1_000_000, 2 * SECONDS, ABOVE),  # it was large anyway
        (100_000, 1_000.0, MIN_COSTLY),
        (MIN_COSTLY, 1.0, ABOVE),
    ],
)
def test_what_takes_long_is_large_from_then_on(size: int, seconds: float, above: int) -> None:
    sizes = LargeSizes(ABOVE)
    sizes.learn(Lesson("costly", size, seconds))
    assert (sizes.of("costly"), sizes.of("other")) == (above, ABOVE)
    assert (sizes.lowest, sizes.above) == (above, ABOVE)


def test_a_lesson_is_not_forgotten_for_a_milder_one(caplog: pytest.LogCaptureFixture) -> None:
    sizes = LargeSizes(ABOVE)
    with caplog.at_level(logging.INFO, "modelway"):
        for factor in (2, 4, 2):
            sizes.learn(Lesson("costly", 100_000, factor * SECONDS))
        sizes.learn(Lesson("other", 100_000, 2 * SECONDS))
    assert (sizes.of("costly"), sizes.of("other"), sizes.lowest) == (25_000, 50_000, 25_000)
    assert [record.args for record in caplog.records] == [
        ("costly", 50_000, 100_000, 2 * SECONDS * 1000),
        ("costly", 25_000, 100_000, 4 * SECONDS * 1000),
        ("other", 50_000, 100_000, 2 * SECONDS * 1000),
    ]


def test_a_worker_that_passes_nothing_learns_nothing(caplog: pytest.LogCaptureFixture) -> None:
    sizes = NothingPasses().sizes
    with caplog.at_level(logging.INFO, "modelway"):
        sizes.presume(["costly"])
        sizes.learn(Lesson("costly", 100_000, 1.0))
    assert (sizes.of("costly"), sizes.lowest, caplog.records) == (math.inf, math.inf, [])


@each(
    ("lessons", "above"),
    [
        ([], PRESUMED),
        ([(10_000, 0.0)], 20_000),  # one twice as large may cost more
        ([(10_000, 0.75 * SECONDS)], 13_333),  # in proportion
        ([(10_000, SECONDS)], 10_000),
        ([(10_000, 1.1 * SECONDS)], 9_090),
        ([(10_000, 2 * SECONDS)], 5_000),  # they cost even more
        ([(10_000, 2 * SECONDS), (6_000, 0.0)], 12_000),  # and others less
        ([(10_000, 0.0), (20_000, 0.0), (40_000, 0.0)], 80_000),
        ([(10_000, 0.0), (9_000, 0.0)], 20_000),
        ([(64_000, 0.0)], ABOVE),
    ],
)
def test_what_is_presumed_to_be_costly_is_large_until_it_has_shown_what_it_costs(
    lessons: list[tuple[int, float]], above: int
) -> None:
    sizes = LargeSizes(ABOVE)
    sizes.presume(["costly"])
    for size, seconds in lessons:
        sizes.presume(["costly"])  # another listener of the worker
        sizes.learn_from_heavy_worker(Lesson("costly", size, seconds))
    assert (sizes.of("costly"), sizes.of("other"), sizes.lowest) == (above, ABOVE, above)


def test_what_was_learned_is_not_presumed() -> None:
    sizes = LargeSizes(ABOVE)
    sizes.learn(Lesson("costly", 100_000, 20 * SECONDS))
    sizes.presume(["costly"])
    sizes.learn_from_heavy_worker(Lesson("costly", 100_000, 0.0))
    assert sizes.of("costly") == 5_000


def test_one_odd_body_is_no_lesson_for_ever() -> None:
    seconds = 0.0
    sizes = LargeSizes(ABOVE, lambda: seconds)
    odd, mild = Lesson("costly", 100_000, 100.0), Lesson("costly", 60_000, 0.0)
    sizes.learn(odd)
    sizes.learn_from_heavy_worker(mild)
    assert sizes.of("costly") == MIN_COSTLY
    seconds = HOLD - 1
    sizes.learn_from_heavy_worker(odd)  # once more: it holds from now on
    seconds = HOLD + 1
    sizes.learn_from_heavy_worker(mild)
    assert sizes.of("costly") == MIN_COSTLY
    seconds = 2 * HOLD
    sizes.learn_from_heavy_worker(mild)
    assert sizes.of("costly") == 120_000
    sizes.learn_from_heavy_worker(mild._replace(size=100_000))
    assert (sizes.of("costly"), sizes.lowest) == (ABOVE, ABOVE)


def test_a_worker_learns_what_a_large_body_has_cost_elsewhere() -> None:
    sizes = LargeSizes(ABOVE)
    sizes.learn_from_heavy_worker(Lesson("costly", 1_000_000, 100 * SECONDS))
    assert sizes.of("costly") == 10_000
