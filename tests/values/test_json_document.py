"""A JSON text and its value, edited together."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values.json_document import JsonDocument
from engine.values.json_spans import Ambiguous

TEXT = b'{ "a" : 1.0, "b":[1, {"c":"x"} ,3 ],\n"d": {"e":null } }'


def edited(text, edit):
    document = JsonDocument.parse(text)
    edit(document)
    assert document.value == orjson.loads(document.text)
    assert list(document.value) == list(orjson.loads(document.text))
    return document.text


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (
            lambda d: d.replace(("a",), b"2"),
            b'{ "a" : 2, "b":[1, {"c":"x"} ,3 ],\n"d": {"e":null } }',
        ),
        (
            lambda d: d.replace(("b", 1, "c"), b"[]"),
            b'{ "a" : 1.0, "b":[1, {"c":[]} ,3 ],\n"d": {"e":null } }',
        ),
        (lambda d: d.remove([("a",)]), b'{ "b":[1, {"c":"x"} ,3 ],\n"d": {"e":null } }'),
        (lambda d: d.remove([("d",)]), b'{ "a" : 1.0, "b":[1, {"c":"x"} ,3 ] }'),
        (lambda d: d.remove([("d", "e")]), b'{ "a" : 1.0, "b":[1, {"c":"x"} ,3 ],\n"d": { } }'),
        (
            lambda d: d.remove([("b", 0), ("b", 2), ("a",)]),
            b'{ "b":[{"c":"x"} ],\n"d": {"e":null } }',
        ),
        (
            lambda d: d.rename(("a",), "z"),
            b'{ "z" : 1.0, "b":[1, {"c":"x"} ,3 ],\n"d": {"e":null } }',
        ),
        (
            lambda d: d.add(("z",), b"1"),
            b'{ "a" : 1.0, "b":[1, {"c":"x"} ,3 ],\n"d": {"e":null } ,"z":1}',
        ),
        (
            lambda d: d.add(("d", "\xfc"), b"1"),
            b'{ "a" : 1.0, "b":[1, {"c":"x"} ,3 ],\n"d": {"e":null ,"\xc3\xbc":1} }',
        ),
        (
            lambda d: d.insert([("b",)], [b"8", b"9"], front=True),
            b'{ "a" : 1.0, "b":[8,9,1, {"c":"x"} ,3 ],\n"d": {"e":null } }',
        ),
        (
            lambda d: d.insert([("b",)], [b"8", b"9"], front=False),
            b'{ "a" : 1.0, "b":[1, {"c":"x"} ,3 ,8,9],\n"d": {"e":null } }',
        ),
    ],
)
def test_only_the_bytes_of_the_edit_change(edit, after):
    assert edited(TEXT, edit) == after


@pytest.mark.parametrize("text", [b"{}", b" { } "])
def test_the_first_member_has_no_comma(text):
    assert orjson.loads(edited(text, lambda d: d.add(("a",), b"1"))) == {"a": 1}


def test_the_first_items_have_no_comma():
    assert edited(b"[ ]", lambda d: d.insert([()], [b"1"], front=True)) == b"[1 ]"


@pytest.mark.parametrize("text", [b'{"a":1}', b'{ "a" : 1 }', b'{"a":1,"b":2}', b'{"b":2 , "a":1}'])
def test_the_only_mention_is_removed_with_one_comma(text):
    assert edited(text, lambda d: d.remove([("a",)])).count(b",") == 0


def test_the_raw_text_of_a_value():
    assert JsonDocument.parse(TEXT).raw(("b",)) == b'[1, {"c":"x"} ,3 ]'


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d.rename(("a",), "b"),
        lambda d: d.raw(("a",)),
        lambda d: d.add(("a", "b"), b"1"),
        lambda d: d.insert([("a",)], [b"1"], front=True),
    ],
)
def test_a_member_that_is_there_twice_is_ambiguous(edit):
    document = JsonDocument.parse(b'{"a": {}, "a": {}}')
    with pytest.raises(Ambiguous):
        edit(document)


def test_a_member_that_is_there_twice_is_replaced_twice_and_removed_twice():
    text = b'{"a": 1, "a": 2}'
    assert edited(text, lambda d: d.replace(("a",), b"3")) == b'{"a": 3, "a": 3}'
    assert edited(text, lambda d: d.remove([("a",)])) == b"{}"


def test_several_values_are_replaced_and_none_is_shared():
    document = JsonDocument.parse(b'[{"a": 1, "b": 1.0}, {"a": 2}]')
    document.replace_all([(0, "a"), (1, "a")], b'{"x": []}')
    assert document.text == b'[{"a": {"x": []}, "b": 1.0}, {"a": {"x": []}}]'
    assert document.value == orjson.loads(document.text)
    document.value[0]["a"]["x"].append(1)
    assert document.value[1] == {"a": {"x": []}}


@pytest.mark.parametrize("front", [True, False])
def test_items_are_added_to_several_arrays(front):
    document = JsonDocument.parse(b'[{"a": [1], "b": []}, {"a": [ ]}]')
    document.insert([(1, "a"), (0, "a"), (0, "b")], [b"8"], front=front)
    first = b"[8,1]" if front else b"[1,8]"
    last = b"[8 ]" if front else b"[ 8]"
    assert document.text == b'[{"a": %b, "b": [8]}, {"a": %b}]' % (first, last)
    assert document.value == orjson.loads(document.text)
    again = JsonDocument.parse(b'{"c": {"a": []}, "b": {"a": []}, "c": {"a": []}}')
    with pytest.raises(Ambiguous):
        again.insert([("c", "a"), ("b", "a")], [b"8"], front=front)


def test_a_name_in_text_or_with_escapes_is_not_taken_for_the_member():
    text = b'{"x": "a", "\\u0061": 1, "y": {"b": "b"}, "b": 2}'
    assert edited(text, lambda d: d.replace(("a",), b"3")) == text.replace(b": 1", b": 3")
    assert edited(text, lambda d: d.replace(("b",), b"3")) == text.replace(b"2", b"3")


VALUES = st.recursive(
    st.none() | st.integers(-5, 5) | st.sampled_from(["", "a", "b", 'x"', "\\", "é"]),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c", "é", 'q"']), below, max_size=4)
    ),
    max_leaves=8,
)


def paths(value, at=()):
    if at:
        yield at
    entries = value.items() if isinstance(value, dict) else ()
    for step, below in enumerate(value) if isinstance(value, list) else entries:
        yield from paths(below, (*at, step))


@given(st.data())
def test_text_and_value_agree_after_any_edits(data):
    value = data.draw(st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=4))
    separators = data.draw(st.sampled_from([(",", ":"), (" , ", " :\n")]))
    document = JsonDocument.parse(json.dumps(value, separators=separators).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        known_paths = list(paths(document.value))
        new = orjson.dumps(data.draw(VALUES))
        edit = data.draw(st.sampled_from(["replace", "remove", "rename", "add", "insert"]))
        if edit == "add" or not known_paths:
            holders = [(), *(p for p in known_paths if isinstance(document.get(p), dict))]
            path = (
                *data.draw(st.sampled_from(holders)),
                data.draw(st.sampled_from(["p", "a", "é"])),
            )
            if not document.has(path):
                document.add(path, new)
        elif edit == "insert":
            lists = [p for p in known_paths if isinstance(document.get(p), list)]
            if lists:
                front = data.draw(st.booleans())
                document.insert([data.draw(st.sampled_from(lists))], [new, b"1"], front=front)
        else:
            path = data.draw(st.sampled_from(known_paths))
            if edit == "replace":
                document.replace(path, new)
            elif edit == "remove":
                document.remove([path])
            elif isinstance(path[-1], str) and not document.has((*path[:-1], "r")):
                document.rename(path, "r")
        assert document.value == orjson.loads(document.text)


@pytest.mark.parametrize(
    ("path", "after"),
    [
        (("f",), b'{"a":[1],"f":2}'),
        (("f", "g", "h"), b'{"a":[1],"f":{"g":{"h":2}}}'),
        (("a", "x"), None),
        (("a", 1), None),
        (("a", 0, "x"), None),
    ],
)
def test_a_member_is_created_with_the_objects_above_it_where_that_can_be(path, after):
    document = JsonDocument.parse(b'{"a":[1]}')
    assert document.can_create(path) is (after is not None)
    if after is not None:
        assert edited(b'{"a":[1]}', lambda d: d.create(path, b"2")) == after
