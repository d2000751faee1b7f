"""Edits of headers: their order, templates, and values that no header can have."""

import pytest

from engine.transforms.header_edits import HeaderEdits
from engine.transforms.template import TemplateValues, parse
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

HEADERS = [("a", "1"), ("b", "2"), ("a", "3")]


def templates(fields):
    return {name: parse(text, upstream=False) for name, text in fields.items()}


def edited(headers=HEADERS, *, request=True, exchange=None, **edits):
    compiled = HeaderEdits(
        frozenset(edits.get("remove", ())),
        edits.get("rename", {}),
        templates(edits.get("add", {})),
        templates(edits.get("set", {})),
    )
    values = TemplateValues(exchange or new_exchange(environ={"HTTP_X": "9"}))
    return compiled.apply(list(headers), values, request=request)


@pytest.mark.parametrize(
    ("edits", "after"),
    [
        ({}, [("a", "1"), ("b", "2"), ("a", "3")]),
        ({"set": {"a": "9"}}, [("b", "2"), ("a", "9")]),
        ({"set": {"c": "9"}}, [("a", "1"), ("b", "2"), ("a", "3"), ("c", "9")]),
        ({"set": {"a": "{token.name}"}}, [("a", "1"), ("b", "2"), ("a", "3")]),
        ({"add": {"a": "9"}}, [("a", "1"), ("b", "2"), ("a", "3")]),
        ({"add": {"c": "9"}}, [("a", "1"), ("b", "2"), ("a", "3"), ("c", "9")]),
        ({"remove": ["a", "z"]}, [("b", "2")]),
        ({"set": {"a": "9"}, "add": {"b": "8"}, "remove": ["b"]}, [("b", "8"), ("a", "9")]),
        ({"rename": {"a": "c"}}, [("b", "2"), ("c", "1"), ("c", "3")]),
        ({"rename": {"a": "b"}}, [("b", "2")]),
        ({"rename": {"z": "c"}}, [("a", "1"), ("b", "2"), ("a", "3")]),
        ({"rename": {"z": "c"}, "add": {"c": "9"}}, [*HEADERS, ("c", "9")]),
        ({"rename": {"b": "c"}, "add": {"c": "9"}}, [("a", "1"), ("a", "3"), ("c", "2")]),
        ({"rename": {"x": "c"}}, [*HEADERS, ("c", "9")]),
    ],
)
def test_headers_are_edited(edits, after):
    assert edited(**edits) == after


def test_a_response_does_not_get_headers_of_the_request():
    assert edited(rename={"x": "c"}, request=False) == HEADERS


@pytest.mark.parametrize("query", ["v=a%0d%0ax-evil:%201", "v=a%00", "v=%7f"])
def test_a_value_with_a_control_character_is_refused(query):
    with pytest.raises(GatewayError) as excinfo:
        edited(set={"x-v": "{request.query.v}"}, exchange=new_exchange(query=query))
    assert (excinfo.value.status, excinfo.value.code) == (400, "invalid_value")
    assert "x-v" in excinfo.value.message


def test_text_beyond_ascii_is_sent_as_utf_8():
    exchange = new_exchange(caller=Caller("Jürgen"))
    name = dict(edited(set={"x-name": "{token.name}"}, exchange=exchange))["x-name"]
    assert name.encode("latin-1").decode() == "Jürgen"
