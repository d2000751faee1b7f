"""Forms are written as documents describe their fields, and read again as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.bodies.form_bodies import compile_form
from engine.spec.bodies.form_writers import write_form
from tests.support.each import each

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "number": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "array", "items": {"type": "string"}},
        "object": {"type": "object", "additionalProperties": {"type": "string"}},
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
        "json": {"type": "object"},
    },
}
ENCODING = {"deep": {"style": "deepObject"}, "json": {"contentType": "application/json"}}


@each(
    ("values", "encoding", "body"),
    [
        ({"a": "x y&z", "b": 1, "c": True}, {}, b"a=x%20y%26z&b=1&c=true"),
        ({"a": ["x", "y"]}, {}, b"a=x&a=y"),
        ({"a": ["x", "y"]}, {"a": {"explode": False}}, b"a=x,y"),
        ({"a": ["x", "y"]}, {"a": {"style": "pipeDelimited", "explode": False}}, b"a=x%7Cy"),
        ({"a": ["x", "y"]}, {"a": {"style": "deepObject"}}, b"a%5B%5D=x&a%5B%5D=y"),
        ({"a": {"b": {"c": 1}}}, {}, b"a%5Bb%5D%5Bc%5D=1"),
        ({"a": [{"b": 1}, {"b": 2}]}, {}, b"a%5B0%5D%5Bb%5D=1&a%5B1%5D%5Bb%5D=2"),
        ({"a": {"b": 1}}, {"a": {"contentType": "application/json"}}, b"a=%7B%22b%22%3A%201%7D"),
        ({"a": None, "b": [], "c": {}}, {}, b""),
        ({"a": 1, "b": {"c": {}, "d": []}, "e": 2}, {}, b"a=1&e=2"),
    ],
)
def test_a_field_has_the_form_of_its_encoding(values, encoding, body):
    assert write_form(values, encoding) == body


def test_what_a_style_cannot_express_names_the_field():
    with pytest.raises(ValueError, match="'a'"):
        write_form({"a": ["x|y"]}, {"a": {"style": "pipeDelimited"}})


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1)
NAMES = st.text("abcXYZ_-.", min_size=1)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "text": TEXTS,
        "number": st.integers(-(10**9), 10**9),
        "list": st.lists(TEXTS, min_size=1),
        "deep": st.lists(TEXTS, min_size=1),
        "object": st.dictionaries(NAMES, TEXTS, min_size=1),
        "rows": st.lists(st.fixed_dictionaries({"a": TEXTS}), min_size=1),
        "json": st.dictionaries(NAMES, st.integers(0, 9) | TEXTS, min_size=1),
    },
)


@given(VALUES)
def test_a_form_is_read_as_it_was_written(values):
    read = compile_form(SCHEMA, ENCODING, lambda schema: schema)
    assert read(write_form(values, ENCODING)) == values
