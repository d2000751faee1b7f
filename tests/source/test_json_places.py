"""Places in JSON: those that a map of the whole text gives, without one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.source import reader
from engine.source.json_places import JsonPlaces
from engine.source.nodes import compose
from engine.source.reader import read
from engine.source.source_map import SourceMap
from tests.support.each import each
from tests.support.growth import growth

WORDS = st.sampled_from(["a", "", "b/c", 'q"uo\\te', "[{", "1", "long words " * 9, "é😀"])
VALUES = st.recursive(
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS | st.none(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(WORDS, below, max_size=3),
    max_leaves=15,
)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    yield path
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for step, below in entries:
            yield from paths(below, (*path, step))


@each("number", ["NaN", "-Infinity", "1e999", "12345678901234567890123"])
def test_a_place_beside_a_number_that_only_python_reads(number: str) -> None:
    text = f'{{"a": [{number}, {{"b\\u0061": {number},\n "c": {{"d": [1, 2]}}}}]}}'
    assert JsonPlaces(text).find(("a", 1, "c", "d", 1), key=False) == (2, 17)
    assert JsonPlaces(text).find(("a", 1, "ba"), key=True)[0] == 1


def test_a_text_with_half_of_a_character_has_places() -> None:
    assert JsonPlaces('{"\ud800": 1,\n "a": ["\ud800", 2]}').find(("a", 1), key=False) == (2, 13)


@given(value=VALUES, indent=st.sampled_from([None, 0, 3]), nowhere=st.sampled_from(["x", 0, 7]))
def test_every_place_is_that_of_the_nodes(value: Any, indent: int, nowhere: str | int) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    root = compose(text)
    assert root is not None
    expected, places = SourceMap(root), JsonPlaces(text)
    for path in list(paths(value)):
        for each_path in (path, (*path, nowhere), (*path, nowhere, "y")):
            for key in (True, False):
                assert places.find(each_path, key=key) == expected.find(each_path, key=key)


@each("text", ["", " \n", "1", '"a"', "[]", "{}", " { } ", "[ ]"])
def test_a_path_that_leads_nowhere_ends_at_the_value(text: str) -> None:
    assert JsonPlaces(text).find(("a", 0), key=True) in ((1, 1), (1, 2), (2, 1))


@each("character", ["\x85", "\u2028", "\u2029"])
def test_lines_are_those_of_editors(character: str) -> None:
    text = json.dumps({"a": character, "b": {"c": 1}}, ensure_ascii=False, indent=1)
    assert read(text, "f").place(("b", "c")) == (4, 8)
    assert read(f"a: '{character}'\nb:\n  c: 1\n", "f").place(("b", "c")) == (3, 6)


@each("text", ['{"a": 1,\n "b": [2]}', '{"a": "\\ud800",\n "b": [2]}'])
def test_no_place_in_json_needs_a_map_of_the_whole_text(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "compose", lambda text: pytest.fail("it was read as YAML"))
    assert read(text, "f").place(("b", 0)) == (2, 8)


def test_places_take_time_linear_in_their_number() -> None:
    def prepare(size: int) -> Any:
        text = json.dumps({f"n{number}": [{"a": number}] for number in range(size)}, indent=1)
        places = JsonPlaces(text)
        return lambda: [places.find((f"n{number}", 0, "a"), key=False) for number in range(size)]

    assert growth(prepare) < 1.2


def test_json_that_was_parsed_with_more_of_the_stack_has_the_place_of_a_parent() -> None:
    deep = read('{"a": ' + "[" * 900 + "]" * 900 + "}", "f")
    if deep.is_json:
        assert below(60, lambda: deep.place(("a", 0))) in ((1, 1), (1, 7), (1, 8))


def below(frames: int, function: Any) -> Any:
    return below(frames - 1, function) if frames else function()
