"""The number that a text probably means."""

import pytest

from engine.config.likely_number import hint, share


@pytest.mark.parametrize(
    ("text", "schema", "expected"),
    [
        ("4", {}, "write 4 without quotes"),
        ("4,", {}, "write 4, without ','"),
        ("4 # cores", {}, "write 4; a comment begins with a space and #"),
        ("4 // cores", {}, "write 4; a comment begins with a space and #"),
        ("1_000", {}, "write 1000"),
        ("1,000", {}, "write 1000"),
        ("1.5M", {}, "write 1500000"),
        ("500k", {}, "write 500000"),
        ("75%", {}, "write 75"),
        ("75%", {"maximum": 1}, "write 0.75"),
        ("unlimited", {}, "leave 'size' out for no limit"),
        ("unlimited", {"default": 3, "description": "Its size."}, "Its size."),
        ("many", {"description": "Its size."}, "Its size."),
    ],
)
def test_a_text_in_place_of_a_whole_number(text, schema, expected):
    assert hint("size", text, schema, ("integer",)) == expected


@pytest.mark.parametrize(("text", "expected"), [("0,02", "write 0.02"), ("$3", "write 3")])
def test_a_text_in_place_of_a_number(text, expected):
    assert hint("input", text, {}, ("number",)) == expected


@pytest.mark.parametrize(
    ("value", "most", "expected"),
    [(50, 1, "write 0.5: it is a share, from 0 to 1"), (500, 1, ""), (50, 10, ""), (0.5, 1, "")],
)
def test_a_share_in_percent(value, most, expected):
    assert share(value, most) == expected
