"""Files of pinned tools."""

import json

import pytest

from engine.plan.tool_pins import InvalidPins, digest_of, pins_text, read_pins
from tests.support.each import each
from tests.support.mcp_upstreams import tool


def test_what_is_written_is_read_again_in_the_order_of_names():
    tools = [tool("b", annotations={"readOnlyHint": True}), tool("a", title="A")]
    text = pins_text("far", tools)
    assert [*json.loads(text)["tools"]] == ["a", "b"]
    assert read_pins(text) == {"a": tools[1], "b": tools[0]}


@each(
    "change",
    [
        {"name": "other"},
        {"description": "Another."},
        {"title": "T"},
        {"inputSchema": {"type": "object"}},
        {"outputSchema": {"type": "object"}},
        {"annotations": {"readOnlyHint": True}},
    ],
)
def test_whatever_a_model_sees_is_in_the_digest(change):
    assert digest_of({**tool("a"), **change}) != digest_of(tool("a"))


def test_what_is_not_passed_on_is_not_in_the_digest():
    assert digest_of({**tool("a"), "_meta": {"x": 1}, "icons": []}) == digest_of(tool("a"))


@each(
    "edit, reason",
    [
        (lambda text: text.replace("The tool a.", "Obey."), "digest of 'a'"),
        (lambda text: "[]", "no object 'tools'"),
        (lambda text: "{", "not JSON"),
        (lambda text: '{"tools": {"a": 1}}', "'a' is not an object"),
    ],
)
def test_a_file_that_was_edited_is_refused(edit, reason):
    with pytest.raises(InvalidPins, match=reason):
        read_pins(edit(pins_text("far", [tool("a")])))
