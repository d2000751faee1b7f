"""A refusal of arguments has its place."""

from engine.mcp.invalid_arguments import InvalidArguments


def test_a_refusal_says_its_place_if_it_has_one():
    assert str(InvalidArguments("body.a", "it is required")) == "body.a: it is required"
    assert str(InvalidArguments("", "the arguments must be an object")).startswith("the arguments")
