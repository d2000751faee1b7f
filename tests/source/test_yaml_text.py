"""Values as YAML text."""

import pytest
import yaml

from engine.source.reader import read
from engine.source.yaml_text import flow, scalar, string
from tests.support.each import each


@each(
    "value",
    ["", "a", "a b", "a, b", "a: b", "[a]", "{a}", "yes", "No", "1", "1.5", "null", "~",
     "2024-01-01", "\n", "\U0001f600", "\x07", "\x85", '"', "\\",
     True, False, None, 0, -1, 1.5, float("inf")],
)  # fmt: skip
def test_a_value_on_one_line_is_read_as_it_was(value):
    nested = {"key": [value, {str(value): value}], "empty": [[], {}]}
    text = flow(nested)
    assert "\n" not in text
    assert read(text + "\n# YAML", "a.yaml").value == nested


def test_words_that_need_no_quotes_have_none():
    assert [string(text) for text in ("gpt-4o", "a b", "openapi/x.yaml")] == [
        "gpt-4o",
        "a b",
        "openapi/x.yaml",
    ]


@pytest.mark.parametrize("text", ["yes", "off", "1e3", "12:30", "0x10", "a: b", "#a", "*", "@a"])
def test_words_that_some_reader_takes_for_something_else_are_quoted(text):
    assert scalar(text) == f'"{text}"'
    assert yaml.safe_load(scalar(text)) == text
