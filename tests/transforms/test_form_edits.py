"""Edits of forms: whole fields, and never a file."""

import pytest

from engine.spec.bodies.multipart import parse
from engine.transforms.form_edits import edit_form, multipart_edits
from engine.transforms.template import TemplateValues
from engine.values.errors import GatewayError
from engine.values.json_edit import apply_edits
from tests.support.exchanges import new_exchange
from tests.transforms.test_body_edits import body_edits

VALUES = TemplateValues(new_exchange(query="q=%0D%0A--B", model="m"))


def part(name, content, more=""):
    return f'--B\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{content}\r\n'


FILE = part("file", "--x", '; filename="a.wav"\r\nContent-Type: audio/wav')
BODY = part("a", "1") + FILE + part("b", "2", "\r\nContent-Type: text/plain") + part("a", "3")


def edited(*, body=BODY, **edits):
    buffer = f"{body}--B--\r\n".encode()
    parts = parse(buffer, b"B")
    after = apply_edits(buffer, multipart_edits(buffer, parts, b"B", body_edits(**edits), VALUES))
    assert parse(after, b"B")
    return after.decode().removesuffix("--B--\r\n")


@pytest.mark.parametrize(
    ("text", "edits", "after"),
    [
        ("a=1&b=%7E&a=2", {"remove": ["a"]}, "b=%7E"),
        ("a=1", {"set": {"a": True, "b": "x y", "c": 1.5, "d": {"e": []}}}, None),
        ("a=1", {"default": {"a": 2, "/b": "{model}"}}, "a=1&b=m"),
        ("a=1", {"rename": {"a": "b"}}, "b=1"),
        ("A=1&b=2", {"remove": ["a"], "set": {"B": 3}}, "B=3"),
        ("a=1", {"default": {"b": 2, "c": 3}, "unless": {"b": ["x", "a"]}}, "a=1&c=3"),
        ("a=1", {"rename": {"a": "b"}, "default": {"c": 3}, "unless": {"c": ["a"]}}, "b=1&c=3"),
        ("a=1", {"remove": ["/a/b", "$.x[*]"], "append": {"c": [1]}}, "a=1"),
    ],
)
def test_the_fields_of_a_form_are_edited(text, edits, after):
    after = after or "a=true&b=x%20y&c=1.5&d=%7B%22e%22%3A%5B%5D%7D"
    assert edit_form(text.encode(), body_edits(**edits), VALUES).decode() == after


@pytest.mark.parametrize(
    ("edits", "after"),
    [
        ({"remove": ["a"]}, FILE + part("b", "2", "\r\nContent-Type: text/plain")),
        ({"remove": ["file"]}, BODY),
        ({"remove": ["A"]}, FILE + part("b", "2", "\r\nContent-Type: text/plain")),
        ({"set": {"A": "1"}, "remove": ["B"]}, part("A", "1") + FILE),
        ({"set": {"file": "x"}}, BODY),
        ({"rename": {"file": "x"}}, BODY),
        ({"default": {"file": "x", "a": "9"}}, BODY),
        ({"default": {"c": "9"}, "unless": {"c": ["b"]}}, BODY),
        ({"default": {'c"': 9}, "unless": {'c"': ["d"]}}, part("c%22", "9") + BODY),
        (
            {"set": {"a": "{model}", "c": "x"}},
            part("c", "x") + part("a", "m") + FILE + part("b", "2", "\r\nContent-Type: text/plain"),
        ),
        (
            {"rename": {"b": "c"}},
            part("a", "1") + FILE + part("c", "2", "\r\nContent-Type: text/plain") + part("a", "3"),
        ),
        ({"rename": {"a": "b"}}, FILE + part("b", "2", "\r\nContent-Type: text/plain")),
        (
            {"remove": ["a"], "default": {"c": "1"}},
            part("c", "1") + FILE + part("b", "2", "\r\nContent-Type: text/plain"),
        ),
    ],
)
def test_the_parts_of_a_form_are_edited(edits, after):
    assert edited(**edits) == after


def test_a_part_begins_where_the_one_before_it_ends():
    body = part("a", "1") + part("b", "2", '; x="--B"')
    assert edited(body=body, remove=["b"]) == part("a", "1")


def test_a_value_with_the_boundary_is_refused():
    with pytest.raises(GatewayError) as excinfo:
        edited(set={"a": "{request.query.q}"})
    assert excinfo.value.status == 400
