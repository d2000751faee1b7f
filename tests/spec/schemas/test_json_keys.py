"""Keys of JSON text get other names, and all other bytes stay."""

import json

import pytest

from engine.spec.schemas.json_keys import TwoSpellings, key_edits
from engine.values.json_edit import apply_edits
from tests.support.each import each


class Upper:
    """Names in capitals, except below the member `free`."""

    is_data = False

    def documented(self, name):
        return name.upper()

    def below(self, step):
        return Free() if step == "FREE" else self


class Free(Upper):
    is_data = True

    def below(self, step):
        return self


def renamed(text):
    return apply_edits(text, key_edits(text, Upper()))


@each(
    ("text", "expected"),
    [
        (b'{"a": 1, "b":"c"}', b'{"A": 1, "B":"c"}'),
        (b'{"a" : {"b":[{"c":"d"}, "e"]}}', b'{"A" : {"B":[{"C":"d"}, "e"]}}'),
        (b'{"free":{"a":{"b":1}},"c":2}', b'{"FREE":{"a":{"b":1}},"C":2}'),
        (rb'{"\u0061":"\"a\":1"}', rb'{"A":"\"a\":1"}'),
        (b'[{"a":1e400}, 12345678901234567890123]', b'[{"A":1e400}, 12345678901234567890123]'),
        (b'{"a":1,"a":2}', b'{"A":1,"A":2}'),
        (b'{"A":1}', b'{"A":1}'),
        (b' "a" ', b' "a" '),
        (b"{}", b"{}"),
    ],
)
def test_every_key_gets_its_documented_name(text, expected):
    assert renamed(text) == expected


def test_a_member_in_two_spellings_is_found_with_its_place():
    with pytest.raises(TwoSpellings) as caught:
        renamed(b'{"x":[{},{"a":1,"A":2}]}')
    assert (caught.value.path, caught.value.names) == (("X", 1), ("A", "a"))


def test_the_nesting_of_a_text_is_not_limited_by_recursion():
    depth = 20_000
    text = b'{"a":' * depth + b"1" + b"}" * depth
    assert renamed(text) == text.replace(b"a", b"A")


def test_a_text_is_read_once_however_deep_a_large_value_is():
    text = json.dumps({"a": [{"b": "x" * 1000}] * 1000}).encode()
    assert len(key_edits(text, Upper())) == 1001
