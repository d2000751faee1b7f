"""Edits of a query string: their order, templates, and the bytes of other parameters."""

import pytest

from engine.transforms.query_edits import QueryEdits
from engine.transforms.template import TemplateValues, parse
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange


def edited(raw, **edits):
    def templates(kind):
        return {name: parse(text, upstream=False) for name, text in edits.get(kind, {}).items()}

    compiled = QueryEdits(
        frozenset(edits.get("remove", ())),
        edits.get("rename", {}),
        templates("default"),
        templates("set"),
    )
    return compiled.apply(raw, TemplateValues(new_exchange(query="v=x%26y%3d&w=1")))


@pytest.mark.parametrize(
    ("raw", "edits", "after"),
    [
        ("", {}, ""),
        ("a=1&b=%7E", {"remove": ["a"]}, "b=%7E"),
        ("%61=1&b=%7E+", {"remove": ["a", "z"]}, "b=%7E+"),
        ("a=1&a=2&b=3", {"set": {"a": "9"}}, "a=9&b=3"),
        ("b=3", {"set": {"a b": "&="}}, "b=3&a%20b=%26%3D"),
        ("", {"set": {"a": "{request.query.v}"}}, "a=x%26y%3D"),
        ("a=1", {"set": {"a": "{request.query.z}"}}, "a=1"),
        ("a=1", {"default": {"a": "2", "b": "3"}}, "a=1&b=3"),
        ("a=1&b&%61=2%20", {"rename": {"a": "c d"}}, "c%20d=1&b&c%20d=2%20"),
        ("b&a", {"rename": {"b": "c"}}, "c&a"),
        ("a=1&c=2", {"rename": {"a": "c"}}, "c=2"),
        ("a=1", {"rename": {"a": "c"}, "default": {"c": "2"}}, "c=1"),
        ("b=1", {"rename": {"a": "c"}, "default": {"c": "2"}}, "b=1&c=2"),
    ],
)
def test_a_query_is_edited(raw, edits, after):
    assert edited(raw, **edits) == after


def test_a_query_that_cannot_be_split_is_refused():
    with pytest.raises(GatewayError) as excinfo:
        edited("%ff=1", remove=["a"])
    assert (excinfo.value.status, excinfo.value.code) == (400, "invalid_value")
