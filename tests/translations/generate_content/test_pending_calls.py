"""Which call a result answers."""

from __future__ import annotations

from engine.translations.generate_content.pending_calls import PendingCalls
from tests.support.each import each
from tests.support.growth import MOST_GROWTH, Work, growth

CALLS = [("f", "1"), ("g", "2"), ("f", "3")]


@each(
    ("results", "ids"),
    [
        ([("f", ""), ("f", ""), ("g", "")], ["1", "3", "2"]),
        ([("g", ""), ("f", "")], ["2", "1"]),
        ([("h", ""), ("h", ""), ("h", ""), ("h", "")], ["1", "2", "3", ""]),
        ([("f", "3"), ("f", ""), ("f", "")], ["3", "1", "2"]),
        ([("g", "1"), ("f", "")], ["1", "3"]),
        ([("f", "9"), ("f", "")], ["9", "1"]),
    ],
)
def test_a_result_answers_the_call_that_it_names_or_the_oldest(
    results: list[tuple[str, str]], ids: list[str]
) -> None:
    calls = PendingCalls()
    for name, call_id in CALLS:
        calls.add(name, call_id)
    assert [calls.take(name, call_id) for name, call_id in results] == ids


def test_an_id_that_is_used_again_is_the_later_call() -> None:
    calls = PendingCalls()
    for name, call_id in [("f", "1"), ("f", "2"), ("g", "1")]:
        calls.add(name, call_id)
    assert [calls.take("f"), calls.take("g")] == ["2", "1"]


@each("call_id", ["", "call_{}"])
def test_a_result_costs_the_same_however_many_calls_are_pending(call_id: str) -> None:
    def prepare(count: int) -> Work:
        def add_and_take() -> None:
            calls = PendingCalls()
            for number in range(count):
                calls.add("f", f"call_{number}")
            for number in range(count):
                calls.take("f", call_id.format(number))

        return add_and_take

    assert growth(prepare) <= MOST_GROWTH
