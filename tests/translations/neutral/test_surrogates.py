"""Halves of surrogate pairs."""

from __future__ import annotations

import json

from engine.translations.neutral.answer_json import Surrogates
from tests.support.each import each


@each(
    ("texts", "joined"),
    [
        (['"a\\ud83d"', '"\\ude00b"'], ["a", "\U0001f600b"]),
        (['"a\\uD83D"', '"x"', '"\\uDE00"'], ["a", "x", "\ufffd"]),  # another text has none
        (['["\\ud83d", "\\ud83d"]', '["\\ude00", "\\ude00"]'], [["", ""], ["\U0001f600"] * 2]),
        (['"\\ud83d\\ude00"'], ["\U0001f600"]),
        (['"\\ud83d b"'], ["\ufffd b"]),
        (['"a\\ude00"'], ["a\ufffd"]),
        (['"\\\\ud83d"', '"\\u0041\\n\\""'], ["\\ud83d", 'A\n"']),
    ],
)
def test_halves_are_joined(texts: list[str], joined: list[object]) -> None:
    surrogates = Surrogates()
    assert [json.loads(surrogates.joined(each.encode())) for each in texts] == joined


def test_a_text_with_whole_pairs_is_as_it_was() -> None:
    text = rb'{"a": "\ud83d\ude00 \\ud83d \u00e4 \n", "b": "\xc3\xa4"}'
    assert Surrogates().joined(text) == text
