"""Multipart forms are written as documents describe them, and read again as they were."""

from email import message_from_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.bodies.form_writers import File, write_multipart
from engine.spec.bodies.multipart import boundary_of, parse
from engine.spec.bodies.multipart_bodies import compile_multipart
from tests.support.each import each

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "number": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "string"}},
        "object": {"type": "object"},
        "rows": {"type": "array", "items": {"type": "object"}},
        "file": {"type": "string", "format": "binary"},
    },
}


def parts(values, encoding=None):
    """Name, file name, content type and content of each part, by the parser of Python."""
    body, content_type = write_multipart(values, encoding)
    message = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
    return [
        (
            part.get_param("name", header="content-disposition"),
            part.get_filename(),
            part.get("content-type"),
            part.get_payload(decode=True),
        )
        for part in message.get_payload()
    ]


@each(
    ("values", "encoding", "expected"),
    [
        ({"a": "x", "b": 1, "c": None}, {}, [("a", None, None, b"x"), ("b", None, None, b"1")]),
        ({"a": ["x", "y"]}, {}, [("a", None, None, b"x"), ("a", None, None, b"y")]),
        ({"a": ["x", "y"]}, {"a": {"style": "csv"}}, [("a", None, None, b"x,y")]),
        ({"a": {"b": 1}}, {}, [("a", None, "application/json", b'{"b":1}')]),
        ({"a": {"b": [1]}}, {"a": {"style": "deepObject"}}, [("a[b][0]", None, None, b"1")]),
        ({"a": "x"}, {"a": {"contentType": "text/csv"}}, [("a", None, "text/csv", b"x")]),
        (
            {"a": [File(b"1"), File(b"2", "b.png", "image/png")]},
            {},
            [("a", "a", "application/octet-stream", b"1"), ("a", "b.png", "image/png", b"2")],
        ),
        ({"a": File(b"1")}, {"a": {"contentType": "image/gif"}}, [("a", "a", "image/gif", b"1")]),
    ],
)
def test_a_field_has_the_form_of_its_encoding(values, encoding, expected):
    assert parts(values, encoding) == expected


def test_equal_values_are_equal_bytes_and_no_content_has_the_boundary():
    body, content_type = write_multipart({"a": "x"}, {})
    assert write_multipart({"a": "x"}, {}) == (body, content_type)
    boundary = boundary_of(content_type).decode()
    other, _ = write_multipart({"a": boundary}, {})
    assert other.count(boundary.encode()) == 1


@each(
    "values",
    [
        {'a"b': "x"},
        {"a\r\nX: y": "x"},
        {"a": File(b"", 'x"; name="b')},
        {"a": File(b"", "a\\")},
        {"a": File(b"", "x%22y")},
        {"a": File(b"", "x", "text/plain\r\nX: y")},
        {"a": {"b": File(b"")}},
    ],
)
def test_what_parsers_read_in_two_ways_is_refused(values):
    with pytest.raises(ValueError, match="form field"):
        write_multipart(values, {})


TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.fixed_dictionaries(
    {"text": TEXTS},
    optional={
        "number": st.integers(-(10**9), 10**9),
        "list": st.lists(TEXTS, min_size=1),
        "object": st.dictionaries(TEXTS, st.integers(0, 9) | TEXTS),
        "rows": st.lists(st.dictionaries(TEXTS, TEXTS), min_size=1),
    },
)


@given(VALUES, st.binary())
def test_a_form_is_read_as_it_was_written(values, content):
    body, content_type = write_multipart({**values, "file": File(content, "a.bin")}, {})
    listed = parse(body, boundary_of(content_type))
    read = compile_multipart(SCHEMA, {}, lambda schema: schema)
    assert read(body, listed) == {**values, "file": ""}
    (file,) = [part for part in listed if part.name == "file"]
    assert body[file.start : file.end] == content
