"""Ids of calls that occur twice in a conversation."""

from __future__ import annotations

from engine.translations.neutral.unique_calls import with_unique_calls
from tests.support.each import each
from tests.support.growth import MOST_GROWTH, Work, growth
from tests.translations.neutral.test_turns import turn


@each(
    ("before", "after"),
    [
        ("u:- a:x u:x a:y u:y", "- x x y y"),
        ("a:x u:x a:x u:x a:x u:x", "x x x_2 x_2 x_3 x_3"),
        ("a:xx u:xx", "x x_2 x x_2"),
        ("a:xx u:x u:x", "x x_2 x x_2"),
        ("a:x a:x u:xx", "x x_2 x x_2"),
        ("a:x u:- a:x u:x", "x - x_2 x_2"),  # no result of the first
        ("a:x u:xx a:x u:x", "x x x_2 x_2"),
        ("a:x a:x u:z", "x x_2 z"),
    ],
)
def test_calls_have_ids_of_their_own_and_results_those_of_their_calls(
    before: str, after: str
) -> None:
    messages = with_unique_calls([turn(text) for text in before.split()])
    ids = [getattr(block, "id", "-") for message in messages for block in message.blocks]
    assert ids == after.split()


def test_a_new_id_is_none_that_the_caller_uses() -> None:
    messages = [turn("a:x"), turn("a:x")]
    messages[0].blocks += turn("a:x").blocks
    messages[0].blocks[1].id = "x_2"  # type: ignore[attr-defined]
    first, second = with_unique_calls(messages)
    assert [block.id for block in [*first.blocks, *second.blocks]] == ["x", "x_2", "x_3"]  # type: ignore[attr-defined]


def test_the_cost_of_one_id_for_all_calls_grows_with_their_number() -> None:
    def prepare(size: int) -> Work:
        messages = [turn("a:" + "x" * size), turn("u:" + "x" * size)]
        return lambda: with_unique_calls(messages)

    assert growth(prepare) < MOST_GROWTH
