"""Items of a conversation of the Responses API."""

from engine.objects.response_items import items_of, join_items, output_items
from tests.support.each import each


@each(
    ("value", "items"),
    [
        (None, b""),
        ([], b""),
        ([{"a": 1}, 2], b'{"a":1},2'),
        ("hi", b'{"type":"message","role":"user","content":"hi"}'),
        ({"a": 1}, None),
        (7, None),
    ],
)
def test_the_items_of_an_input(value, items):
    assert items_of(value) == items


def test_items_are_joined_without_empty_parts():
    assert join_items(b"1", b"", b"2,3") == b"1,2,3"


def test_reasoning_that_only_names_what_is_stored_is_left_out():
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    sealed = {**reasoning, "encrypted_content": "x"}
    opened = {**reasoning, "content": [{"type": "reasoning_text", "text": "t"}]}
    message = {"type": "message"}
    kept = output_items([reasoning, sealed, message, opened])
    assert kept == output_items([sealed, message, opened])
    assert b"encrypted_content" in kept
