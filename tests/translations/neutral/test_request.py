"""Requests in the neutral form."""

from __future__ import annotations

from engine.translations.neutral.content import Block, Text
from engine.translations.neutral.request import ChatRequest, Message, Role, merged
from tests.support.growth import MAX_GROWTH, Work, growth


def message(role: Role, *texts: str) -> Message:
    blocks: list[Block] = [Text(text=text) for text in texts]
    return Message(role=role, blocks=blocks, place=f"messages of {texts}")


def test_neighbours_of_one_role_become_one_message_with_all_blocks_in_order() -> None:
    messages = [message("user", "a", "b"), message("user"), message("user", "c")]
    (whole,) = merged(messages)
    assert whole.blocks == [Text(text="a"), Text(text="b"), Text(text="c")]
    assert (whole.role, whole.place) == ("user", messages[0].place)


def test_a_message_between_two_of_another_role_keeps_them_apart() -> None:
    messages = [message("user", "a"), message("assistant", "b"), message("user", "c")]
    assert merged(messages) == messages


def test_merging_leaves_the_messages_as_they_are() -> None:
    messages = [message("user", "a"), message("user", "b")]
    merged(messages)
    assert messages == [message("user", "a"), message("user", "b")]


def test_a_field_has_the_name_that_the_caller_gave_it() -> None:
    request = ChatRequest(language="a", model="m", messages=[], places={"stop": "stopSequences"})
    assert (request.place_of("stop"), request.place_of("seed")) == ("stopSequences", "seed")


def test_merging_costs_the_same_for_each_message() -> None:
    def prepare(count: int) -> Work:
        messages = [message("user", "a") for _ in range(count)]
        return lambda: merged(messages)

    assert growth(prepare) <= MAX_GROWTH
