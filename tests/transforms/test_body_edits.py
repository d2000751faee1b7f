"""Edits of a JSON body: their order, and the law where only the body decides."""

import orjson
import pytest

from engine.config.transforms import TransformConfig
from engine.dialects.gemini.proto_json import json_name
from engine.transforms.body_edits import JsonValue
from engine.transforms.compile import compile_transform
from engine.transforms.faults import Faults
from engine.transforms.template import TemplateValues, parse
from engine.values.caller import Caller
from engine.values.json_document import JsonDocument
from tests.support.exchanges import new_exchange
from tests.support.growth import MAX_GROWTH, growth

VALUES = TemplateValues(new_exchange(query="q=%22%7D", caller=Caller("alice")))


def compiled(value):
    return JsonValue(value, lambda text: parse(text, upstream=False))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, b"null"),
        (True, b"true"),
        (1.5, b"1.5"),
        ("{{é}}", '"{é}"'.encode()),
        ([{"a": "x"}, 1], b'[{"a":"x"},1]'),
    ],
)
def test_a_value_without_names_is_constant(value, text):
    assert compiled(value).constant == compiled(value).fill(VALUES) == text


def test_names_are_filled_in_as_text():
    value = compiled({"{a}": ["by {token.name}", "{request.query.q}"]})
    assert value.constant is None
    assert value.fill(VALUES) == b'{"{a}":["by alice","\\"}"]}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("{request.headers.x-a}", b'["a","b"]'),
        ({"of": ["z", "{request.headers.x-a}", ["{request.headers.x-a}"]]}, None),
        (["z", "{request.headers.x-b}"], b""),
    ],
)
def test_the_elements_of_a_header_are_items(value, text):
    values = TemplateValues(new_exchange(environ={"HTTP_X_A": "a, b"}))
    expected = b'{"of":["z","a","b",["a","b"]]}' if text is None else text or None
    assert compiled(value).fill(values) == expected


@pytest.mark.parametrize("value", ["{model}", ["{model}"], {"a": {"b": "{model}"}}])
def test_a_value_whose_template_has_none_is_missing(value):
    assert compiled(value).fill(VALUES) is None


@pytest.mark.parametrize("value", [10**30, float("inf"), [float("nan")]])
def test_values_that_json_cannot_represent_are_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        compiled(value)


def body_edits(**edits):
    faults = Faults()
    config = TransformConfig({"request": {"body": edits}}, ())
    transform = compile_transform(config, upstream=False, faults=faults)
    assert faults.found == []
    return transform.request.body


def edited(text, **edits):
    document = JsonDocument.parse(text.encode())
    body_edits(**edits).apply(document, TemplateValues(new_exchange(model="m")))
    assert orjson.loads(document.text) == document.value
    return document.text.decode()


@pytest.mark.parametrize(
    ("text", "edits", "after"),
    [
        ("{}", {"default": {"a": 2}, "unless": {"a": ["b"]}}, '{"a":2}'),
        ('{"b":1}', {"default": {"a": 2}, "unless": {"a": ["b"]}}, '{"b":1}'),
        ('{"b":null}', {"default": {"a": 2}, "unless": {"a": ["b"]}}, '{"b":null}'),
        ('{"c":1}', {"default": {"a": 2}, "unless": {"/a": ["b", "/c"]}}, '{"c":1}'),
        ('{"b":1}', {"default": {"a": 2, "c": 3}, "unless": {"a": ["b"]}}, '{"b":1,"c":3}'),
        ('{"b":1}', {"remove": ["b"], "default": {"a": 2}, "unless": {"a": ["b"]}}, '{"a":2}'),
        (
            '{"l":[{"b":1}]}',
            {"default": {"a": 2}, "unless": {"a": ["$.l[*].b"]}},
            '{"l":[{"b":1}]}',
        ),
        ('{ "a":1.0 }', {"default": {"b": 2}}, '{ "a":1.0 ,"b":2}'),
        ('{"a":1.0}', {"default": {"a": 2}}, '{"a":1.0}'),
        ('{"a":null}', {"default": {"a": 2}}, '{"a":null}'),
        ("{}", {"default": {"/a/b/c": 2}}, '{"a":{"b":{"c":2}}}'),
        ('{"a":{"x":1}}', {"default": {"/a/b": 2}}, '{"a":{"x":1,"b":2}}'),
        ('{"a":[1]}', {"default": {"/a/0": 2, "/a/1": 3}}, '{"a":[1]}'),
        ('{"a":"x"}', {"default": {"/a/b": 2}}, '{"a":"x"}'),
        ('{"a": 1.0,"b":2}', {"set": {"a": True}}, '{"a": true,"b":2}'),
        ('{"a":1}', {"set": {"b": "{model}"}}, '{"a":1,"b":"m"}'),
        ('{"a":1}', {"set": {"a": "{token.name}"}}, '{"a":1}'),
        (
            '{"a":[{"b":1},{"c":2},{"b":3}]}',
            {"set": {"$.a[*].b": 0}},
            '{"a":[{"b":0},{"c":2},{"b":0}]}',
        ),
        ('{"a":[]}', {"set": {"$.a[*].b": 0}}, '{"a":[]}'),
        ('{"a":[{"b":1},{"b":3}]}', {"set": {"/a/1/b": 0}}, '{"a":[{"b":1},{"b":0}]}'),
        ('{"a":1,"b":2}', {"remove": ["a", "z"]}, '{"b":2}'),
        ('{"a":[{"b":1},{"c":2}]}', {"remove": ["$.a[?@.b == 1]"]}, '{"a":[{"c":2}]}'),
        ('{"a":[1,2,3]}', {"remove": ["$.a[0, 2]"]}, '{"a":[2]}'),
        ('{"a": 1.50}', {"rename": {"a": "b"}}, '{"b": 1.50}'),
        ('{"a":1,"b":2}', {"rename": {"a": "b"}}, '{"b":2}'),
        ('{"a":1.50}', {"rename": {"a": "/b/c"}}, '{"b":{"c":1.50}}'),
        ('{"a":{"x":1.50}}', {"rename": {"/a/x": "y"}}, '{"a":{},"y":1.50}'),
        ('{"a":1,"b":"x"}', {"rename": {"a": "/b/c"}}, '{"a":1,"b":"x"}'),
        ('{"a":1}', {"rename": {"z": "b"}, "default": {"b": 2}}, '{"a":1,"b":2}'),
        ('{"a":1}', {"rename": {"a": "b"}, "default": {"b": 2}}, '{"b":1}'),
        ('{"a":[2]}', {"prepend": {"a": [0, "{model}"]}}, '{"a":[0,"m",2]}'),
        ('{"a":[2]}', {"append": {"a": [3]}, "prepend": {"a": [1]}}, '{"a":[1,2,3]}'),
        ('{"a":[]}', {"append": {"a": [3]}}, '{"a":[3]}'),
        ("{}", {"append": {"/a/b": [3]}}, '{"a":{"b":[3]}}'),
        ('{"a":"x"}', {"append": {"a": [3]}}, '{"a":"x"}'),
        ('{"a":[2]}', {"prepend": {"a": [1, "{token.name}"]}}, '{"a":[2]}'),
        ('{"a":[[1],[2]]}', {"append": {"$.a[*]": [9]}}, '{"a":[[1,9],[2,9]]}'),
        ("[1]", {"set": {"a": 1}, "remove": ["b"]}, "[1]"),
        ("null", {"set": {"a": 1}}, "null"),
        (
            '{"a":1,"b":[],"c":3}',
            {"remove": ["a"], "default": {"d": 4}, "set": {"c": 5}, "append": {"b": [6]}},
            '{"b":[6],"c":5,"d":4}',
        ),
    ],
)
def test_a_body_is_edited(text, edits, after):
    assert edited(text, **edits) == after


@pytest.mark.parametrize(
    "edits",
    [
        {"set": {"$.x[*].a": 1}},
        {"remove": ["$.x[*].a"]},
        {"append": {"$.x[*].b": [1]}},
        {"prepend": {"$.x[*].b": [1]}},
    ],
)
def test_places_of_a_query_cost_the_same_each(edits):
    compiled, values = body_edits(**edits), TemplateValues(new_exchange())

    def prepare(size):
        document = JsonDocument.parse(orjson.dumps({"x": [{"a": "text", "b": []}] * size}))
        return lambda: compiled.apply(document, values)

    assert growth(prepare) < MAX_GROWTH


def test_values_are_not_shared_between_requests():
    edits = body_edits(set={"a": {"b": []}})
    values = TemplateValues(new_exchange())
    first, second = JsonDocument.parse(b"{}"), JsonDocument.parse(b"{}")
    edits.apply(first, values)
    first.insert([("a", "b")], [b"1"], front=False)
    edits.apply(second, values)
    assert second.value == {"a": {"b": []}}


@pytest.mark.parametrize(
    ("text", "renames", "after"),
    [
        ('{"a_b":1,"aB":2}', {"a_b": "c"}, '{"c":1}'),
        ('{"aB":2,"x":3}', {"a_b": "c"}, '{"x":3}'),
        ('{"a_b":1}', {"a_b": "aB"}, '{"aB":1}'),
        ('{"a_b":1,"aB":2}', {"a_b": "aB"}, '{"aB":2}'),
        ('{"n":1,"N":2}', {"n": "m", "N": "k"}, '{"m":1,"k":2}'),
        ('{"o":{"a_b":1,"A_B":2}}', {"/o/a_b": "/o/c"}, '{"o":{"c":1}}'),
    ],
)
def test_a_rename_of_a_request_takes_other_spellings_away(text, renames, after):
    document = JsonDocument.parse(text.encode())
    values = TemplateValues(new_exchange(model="m"))
    body_edits(rename=renames).apply(document, values, request=True)
    assert document.text.decode() == after
    assert orjson.loads(document.text) == document.value


@pytest.mark.parametrize("name", ["generation_config", "generationConfig"])
@pytest.mark.parametrize("new", ["generation_config", "generationConfig"])
def test_a_member_is_not_removed_by_a_rename_to_its_other_spelling(name, new):
    old = {"generation_config": "generationConfig"}.get(new, "generation_config")
    edits = body_edits(rename={old: new}).with_names(json_name)
    document = JsonDocument.parse(b'{"%s":1}' % name.encode())
    edits.apply(document, TemplateValues(new_exchange(model="m")), request=True)
    assert list(document.value.values()) == [1]
