"""Which targets of a group are ejected: errors, latency, silence, and how many at most."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.config.health import EjectionConfig
from engine.upstream.health.outliers import Activity, Ejection, Member, ejections, max_ejected
from tests.support.each import each
from tests.support.growth import MAX_GROWTH, Work, growth

CONFIG = EjectionConfig(
    errors=0.5, latency=5.0, requests=10, window=30.0, time=30.0, max_time=300.0, max_out=0.5,
    slow_start=30.0,
)  # fmt: skip

GOOD = Activity(answers=100, latency=0.2)
IDLE = Activity()
FAILS = Activity(answers=10, failures=90, latency=0.2)
HALF = Activity(answers=50, failures=50, latency=0.2)
SLOW = Activity(answers=30, latency=10.0)
LATE = Activity(answers=30, latency=2.0)
SILENT = Activity(answers=0, waiting=8, silent=3.0)

ERRORS, LATENCY, SILENCE = "errors", "latency", "silence"

CASES: dict[str, tuple[Sequence[Activity], Sequence[tuple[int, str]]]] = {
    "all is well": ([GOOD] * 4, []),
    "nothing happens": ([IDLE] * 4, []),
    "one fails": ([GOOD, FAILS, GOOD], [(1, ERRORS)]),
    "half of the attempts is enough": ([GOOD, HALF], [(1, ERRORS)]),
    "less than half is not": ([GOOD, HALF._replace(answers=51)], []),
    "nine requests say nothing": ([GOOD, Activity(failures=9)], []),
    "ten do": ([GOOD, Activity(failures=10)], [(1, ERRORS)]),
    "a target without requests is taken for a good one": ([FAILS, IDLE], [(0, ERRORS)]),
    "all fail: none does better": ([FAILS] * 8, []),
    "all fail, some more than others": ([FAILS, HALF, FAILS, HALF], []),
    "one of two": ([FAILS, GOOD], [(0, ERRORS)]),
    "a single target": ([FAILS], []),
    "at most half of the group": ([FAILS, FAILS, FAILS, GOOD], [(2, ERRORS), (1, ERRORS)]),
    "the worst first": (
        [HALF, FAILS, GOOD, HALF._replace(failures=60)],
        [(1, ERRORS), (3, ERRORS)],
    ),
    "one of three, although that is less than half": ([FAILS, FAILS, GOOD], [(1, ERRORS)]),
    "slow": ([GOOD, GOOD, SLOW, GOOD], [(2, LATENCY)]),
    "slow among three": ([GOOD, SLOW, GOOD], [(1, LATENCY)]),
    "slow of two: which one is the usual?": ([GOOD, SLOW], []),
    "less than five times as slow": ([GOOD, GOOD, GOOD._replace(latency=0.99)], []),
    "slower by less than a tenth of a second": (
        [Activity(100, latency=0.001)] * 3 + [Activity(100, latency=0.1)],
        [],
    ),
    "slower by more": (
        [Activity(100, latency=0.001)] * 3 + [Activity(100, latency=0.11)],
        [(3, LATENCY)],
    ),
    "slow in nine answers": ([GOOD, GOOD, GOOD, SLOW._replace(answers=9)], []),
    "all are slow": ([SLOW] * 5, []),
    "most are slow: the median is": ([SLOW, SLOW, SLOW, GOOD], []),
    "it never answers": ([GOOD, SILENT, GOOD], [(1, SILENCE)]),
    "one of two never answers": ([GOOD, SILENT], [(1, SILENCE)]),
    "two wait: they may be large": ([GOOD, SILENT._replace(waiting=2)], []),
    "silent for less than five times the median": (
        [Activity(100, latency=0.7), SILENT._replace(silent=3.4)],
        [],
    ),
    "silent for less than a second": (
        [Activity(100, latency=0.01), SILENT._replace(silent=0.9)],
        [],
    ),
    "all are silent": ([SILENT] * 4, []),
    "silence before errors before latency": (
        [GOOD, SLOW, FAILS, SILENT, GOOD, GOOD, GOOD, GOOD],
        [(3, SILENCE), (2, ERRORS), (1, LATENCY)],
    ),
}


@each("activities, expected", CASES.values(), ids=CASES)
def test_ejections(activities: Sequence[Activity], expected: Sequence[tuple[int, str]]) -> None:
    members = [Member(activity, CONFIG) for activity in activities]
    assert ejections(members) == [Ejection(*ejection) for ejection in expected]


def test_targets_that_are_out_count_for_the_bound() -> None:
    members = [Member(FAILS, CONFIG, out=True), Member(FAILS, CONFIG), Member(GOOD, CONFIG)]
    assert ejections(members) == []
    members.append(Member(GOOD, CONFIG))
    assert ejections(members) == [(1, ERRORS)]


def test_targets_that_are_out_are_no_measure_for_others() -> None:
    out = Member(GOOD, CONFIG, out=True)
    members = [out, out, *[Member(FAILS, replace(CONFIG, max_out=1.0))] * 4]
    assert ejections(members) == []


def test_targets_of_another_kind_are_not_compared_by_latency() -> None:
    fast = [Member(GOOD, CONFIG, kind="fast")] * 4
    assert ejections([*fast, Member(SLOW, CONFIG, kind="thinks")]) == []
    assert ejections([*fast, Member(SILENT, CONFIG, kind="thinks")]) == []
    assert ejections([*fast, Member(FAILS, CONFIG, kind="thinks")]) == [(4, ERRORS)]


def test_each_target_is_judged_as_its_upstream_says() -> None:
    never = replace(CONFIG, max_out=0.0)
    assert ejections([Member(FAILS, never), Member(GOOD, CONFIG)]) == []
    assert ejections([Member(GOOD, CONFIG), Member(SLOW, replace(CONFIG, latency=0.0))]) == []
    assert ejections([Member(FAILS, None), Member(GOOD, CONFIG)]) == []
    strict = replace(CONFIG, errors=0.1, requests=5)
    assert ejections([Member(Activity(4, 1), strict), Member(GOOD, CONFIG)]) == [(0, ERRORS)]


@each(
    "size, max_out, expected",
    [
        (0, 0.5, 0),
        (1, 1.0, 0),
        (2, 0.5, 1),
        (3, 0.5, 1),
        (4, 0.5, 2),
        (8, 0.25, 2),
        (4, 0.01, 1),
        (4, 0.0, 0),
        (4, 1.0, 3),
    ],
)
def test_how_many_may_be_out(size: int, max_out: float, expected: int) -> None:
    assert max_ejected(size, max_out) == expected


def test_a_target_is_no_measure_once_it_is_ejected_itself() -> None:
    best, rest = Activity(answers=20, latency=0.2, waiting=8, silent=9.0), [HALF] * 5
    assert ejections([Member(each, CONFIG) for each in [best, *rest]]) == [(0, SILENCE)]


def test_a_target_that_no_attempt_failed_at_has_not_failed() -> None:
    config = replace(CONFIG, errors=0.0)
    assert ejections([Member(GOOD, config)] * 2) == []


def test_the_judgement_of_a_group_takes_steps_by_its_size() -> None:
    def judge(size: int) -> Work:
        activities = [
            (
                GOOD._replace(latency=0.2 + index / 10_000),
                HALF._replace(failures=50 + index % 7),
                SLOW._replace(latency=10.0 + index),
                GOOD,
            )[index % 4]
            for index in range(size)
        ]
        members = [Member(activity, CONFIG) for activity in activities]
        assert len(ejections(members)) == size // 2
        return lambda: ejections(members)

    assert growth(judge) < MAX_GROWTH


ACTIVITIES = st.builds(
    Activity,
    st.integers(0, 50),
    st.integers(0, 50),
    st.floats(0.0, 60.0),
    st.integers(0, 20),
    st.floats(0.0, 60.0),
)


@given(st.lists(st.tuples(ACTIVITIES, st.booleans()), max_size=10), st.floats(0.0, 1.0))
def test_the_bound_holds_and_one_target_stays(
    members: list[tuple[Activity, bool]], max_out: float
) -> None:
    config = replace(CONFIG, max_out=max_out)
    group = [Member(activity, config, out) for activity, out in members]
    before = {index for index, member in enumerate(group) if member.out}
    ejected = {index for index, _ in ejections(group)}
    assert not ejected & before
    if ejected:
        assert len(ejected | before) <= max_ejected(len(group), max_out) < len(group)
