"""Many cases as one test: every case runs, and each that fails is named."""

from __future__ import annotations

import pytest

from tests.support.each import each


def test_all_cases_run_and_the_message_names_those_that_fail() -> None:
    run = []

    @each(("number", "word"), [(1, "one"), pytest.param(2, "two", id="the second"), (3, "three")])
    def test(number: int, word: str) -> None:
        run.append(word)
        assert number == 1

    with pytest.raises(ExceptionGroup, match="2 of 3 cases of test") as excinfo:
        test()
    assert run == ["one", "two", "three"]
    notes = [error.__notes__ for error in excinfo.value.exceptions]
    assert notes == [["case: the second"], ["case: 3, 'three'"]]


def test_a_case_that_raises_nothing_where_it_should_fails() -> None:
    @each("number", [1])
    def test(number: int) -> None:
        with pytest.raises(ValueError):
            int(number)

    with pytest.raises(BaseExceptionGroup, match="1 of 1 cases"):
        test()


def test_cases_multiply_and_fixtures_pass() -> None:
    run = []

    @each("a", [1, 2])
    @each("b", "xy")
    def test(fixture: str, a: int, b: str) -> None:
        run.append((fixture, a, b))

    test(fixture="f")
    assert run == [("f", 1, "x"), ("f", 1, "y"), ("f", 2, "x"), ("f", 2, "y")]


@pytest.mark.parametrize("cases", [[], [pytest.param(1, marks=pytest.mark.xfail)]])
def test_no_case_and_a_case_with_marks_are_refused(cases: list[object]) -> None:
    with pytest.raises(ValueError):
        each("number", cases)
