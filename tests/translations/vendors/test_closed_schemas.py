"""Schemas in the subset that Anthropic's models take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import transform_schema
from msgspec import Raw

from engine.translations import translation
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import LossRules
from engine.translations.translation import TranslatedExchange, Translation
from engine.translations.vendors.closed_schemas import ClosedSchema, closed_schema
from engine.values.errors import GatewayError
from tests.support.each import each

Json = dict[str, Any]

CLAUDE = {
    "messages": "claude-sonnet-4-5",
    "converse": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
TEXT = {"type": "string"}
A = {"$ref": "#/$defs/A"}


def raw(schema: Any) -> Raw:
    return Raw(json.dumps(schema).encode())


def close(schema: Any) -> ClosedSchema:
    return closed_schema(raw(schema), "schema")


def closed(schema: Any) -> Any:
    return json.loads(bytes(close(schema).schema))


def an_object(**properties: Any) -> Json:
    return {"type": "object", "properties": properties}


def objects(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
        for each_value in value.values():
            yield from objects(each_value)
    elif isinstance(value, list):
        for each_value in value:
            yield from objects(each_value)


@each(
    ("schema", "keyword"),
    [
        ({"type": "integer", "minimum": 3, "maximum": 9}, "minimum"),
        ({"type": "number", "exclusiveMinimum": 3}, "exclusiveMinimum"),
        ({"type": "number", "multipleOf": 3}, "multipleOf"),
        ({"type": "string", "minLength": 3}, "minLength"),
        ({"type": "string", "pattern": "^3$"}, "pattern"),
        ({"type": "string", "format": "int32 3"}, "format"),
        ({"type": "array", "items": TEXT, "minItems": 3}, "minItems"),
        ({"type": "array", "items": TEXT, "uniqueItems": 3}, "uniqueItems"),
        ({"type": "array", "items": [TEXT, {"const": 3}]}, "items"),
        ({"type": "object", "properties": {}, "minProperties": 3}, "minProperties"),
        ({**TEXT, "not": {"const": 3}}, "not"),
        ({**TEXT, "if": {"const": 3}}, "if"),
        ({**TEXT, "enum": [{"a": 3}]}, "enum"),
    ],
)
def test_a_keyword_that_is_not_taken_is_told_in_the_description(schema: Json, keyword: str) -> None:
    result = close(an_object(x={**schema, "description": "An x."}))
    x = json.loads(bytes(result.schema))["properties"]["x"]
    assert keyword not in x
    assert x["type"] == schema["type"]
    assert x["description"].startswith("An x.\n\n")
    assert keyword in x["description"]
    assert "3" in x["description"]
    assert keyword in result.moved
    assert not result.changed


@each(
    ("schema", "same"),
    [
        ({"type": "string", "format": "date-time"}, True),
        ({"type": "array", "items": TEXT, "minItems": 1}, True),
        ({"type": ["string", "null"]}, True),
        ({"enum": ["a", 1, None, True]}, True),
        ({"const": "a"}, True),
        ({"anyOf": [TEXT, {"type": "null"}]}, True),
        ({"oneOf": [TEXT, {"type": "null"}]}, False),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", **TEXT}, False),
    ],
)
def test_what_is_taken_stays(schema: Json, same: bool) -> None:
    result = close(an_object(x=schema))
    x = json.loads(bytes(result.schema))["properties"]["x"]
    assert (x == schema) is same
    assert not result.moved


def test_every_object_is_closed() -> None:
    schema = an_object(
        a=an_object(b=TEXT),
        c={"type": "array", "items": an_object(d=TEXT)},
        e={"anyOf": [an_object(f=TEXT), {"type": "null"}]},
        g={"properties": {"h": TEXT}, "required": ["h", "other"]},
        i={"$ref": "#/$defs/J"},
    )
    result = closed({**schema, "$defs": {"J": an_object(k={"$ref": "#/definitions/L"})},
                     "definitions": {"L": an_object(m={"type": ["object", "null"],
                                                       "properties": {"n": TEXT}})}})  # fmt: skip
    opened = [each for each in objects(result) if "properties" in each]
    assert len(opened) == 8
    for each_object in opened:
        if each_object.get("type") != "string":
            assert each_object["additionalProperties"] is False
    assert result["properties"]["g"]["required"] == ["h"]


def test_a_reference_stands_alone() -> None:
    schema = an_object(a=A, b={**A, "description": "A b.", "minimum": 3})
    result = closed({**schema, "$defs": {"A": TEXT}})["properties"]
    assert result["a"] == A
    assert result["b"]["anyOf"] == [A]
    assert "minimum" in result["b"]["description"]


def test_what_a_value_has_all_of_is_joined() -> None:
    parts = [an_object(a=TEXT) | {"required": ["a"]}, {"properties": {"b": TEXT}, "title": "B"}]
    result = closed({"type": "object", "allOf": parts, "required": ["b"]})
    assert set(result["properties"]) == {"a", "b"}
    assert sorted(result["required"]) == ["a", "b"]
    assert "allOf" not in result
    alone = closed({**an_object(a={"allOf": [A], "description": "x"}), "$defs": {"A": TEXT}})
    assert alone["properties"]["a"] == {"anyOf": [A], "description": "x"}


@each(
    ("schema", "keyword"),
    [
        ({"$defs": {"A": an_object(a=A)}, **an_object(a=A)}, "$ref"),
        ({"$defs": {"A": {"$ref": "#/$defs/B/items"}, "B": {"type": "array", "items": A}},
          **an_object(a=A)}, "$ref"),
        (an_object(a={"$ref": "#"}), "$ref"),
        (an_object(a={"$ref": "https://example.com/a.json"}), "$ref"),
        (an_object(a=A), "$ref"),
        (an_object(a={}), "type"),
        (an_object(a=True), "type"),
        ({"$defs": {"A": TEXT}, **an_object(a={"allOf": [A, an_object()]})}, "allOf"),
        (an_object(a={"allOf": [{"minimum": 1}, {"minimum": 2}]}), "allOf"),
    ],
)  # fmt: skip
def test_some_keywords_leave_no_schema(schema: Json, keyword: str) -> None:
    assert close(schema).refused == keyword


@each(
    ("schema", "keyword"),
    [
        ({"type": "object", "additionalProperties": TEXT}, "additionalProperties"),
        ({**an_object(b=TEXT), "additionalProperties": TEXT}, "additionalProperties"),
        ({"type": "object"}, "additionalProperties"),
        ({**an_object(b=TEXT), "patternProperties": {"x": TEXT}}, "patternProperties"),
    ],
)
def test_members_without_a_name_are_not_closed_in_silence(schema: Json, keyword: str) -> None:
    result = close(an_object(a=schema))
    assert result.changed == (keyword,)
    a = json.loads(bytes(result.schema))["properties"]["a"]
    assert a["additionalProperties"] is False


@each(
    "schema",
    [
        *([], 7, "x", {"$defs": 7}, {"type": 7}, {"type": [{}]}, {"type": "object", "required": 7}),
        *(an_object(a=7) | {"properties": 7}, {"anyOf": 7}, {"allOf": {}}, {"allOf": [7]}),
        *({"enum": 7}, {"type": "object", "properties": [1]}),
    ],
)
def test_what_is_no_schema_is_named(schema: Any) -> None:
    with pytest.raises(WrongType, match="JSON Schema"):
        close(schema)


@each(
    ("schema", "is_any"),
    [
        ({"type": "object"}, True),
        ({"type": "object", "additionalProperties": TEXT}, True),
        ({"type": "object", "additionalProperties": False}, False),
        (an_object(), False),
        (TEXT, False),
    ],
)
def test_objects_of_any_members(schema: Json, is_any: bool) -> None:
    assert close(schema).is_any_object == is_any


@each(
    "schema",
    [
        an_object(a=TEXT, b={"type": "array", "items": an_object(c={"type": "integer"})}),
        {**an_object(a=A), "$defs": {"A": an_object(b={"anyOf": [TEXT, {"type": "null"}]})}},
        {**an_object(a=TEXT), "required": ["a"], "title": "T", "description": "D"},
    ],
)
def test_the_vendors_sdk_writes_the_same(schema: Json) -> None:
    assert closed(schema) == transform_schema(schema)


def asked(target: str, members: Json, *, lossy: bool = False) -> TranslatedExchange:
    pair = translation("chat_completions", target)
    assert isinstance(pair, Translation)
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], **members}
    line = RequestLine(model="m")
    return pair.request(json.dumps(body).encode(), line, CLAUDE[target], LossRules(lossy=lossy))


def answer(schema: Json) -> Json:
    form = {"name": "x", "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def sent_schema(target: str, exchange: TranslatedExchange) -> Any:
    body = json.loads(exchange.target_request.body)
    if target == "messages":
        return body["output_config"]["format"]["schema"]
    return json.loads(body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"])


PLACE = "response_format.json_schema.schema"


@pytest.mark.parametrize("target", CLAUDE)
def test_the_schema_of_an_answer_is_closed(target: str) -> None:
    exchange = asked(target, answer(an_object(a={"type": "integer", "minimum": 3})))
    schema = sent_schema(target, exchange)
    assert schema["additionalProperties"] is False
    assert "minimum" not in schema["properties"]["a"]
    assert exchange.dropped == [f"{PLACE}.minimum"]


@pytest.mark.parametrize("target", CLAUDE)
def test_a_schema_that_is_not_taken_is_refused_by_its_keyword(target: str) -> None:
    members = answer(an_object(a={"type": "object", "additionalProperties": TEXT}))
    with pytest.raises(GatewayError, match=rf"'{PLACE}.additionalProperties'"):
        asked(target, members)
    exchange = asked(target, members, lossy=True)
    assert exchange.dropped == [f"{PLACE}.additionalProperties"]
    assert sent_schema(target, exchange)["properties"]["a"]["additionalProperties"] is False
    with pytest.raises(GatewayError, match=rf"'{PLACE}.\$ref' \(a schema cannot refer to itself"):
        asked(target, answer({"$defs": {"A": an_object(a=A)}, **an_object(a=A)}))


@pytest.mark.parametrize("target", CLAUDE)
def test_an_object_of_any_members_is_asked_for_as_a_tool(target: str) -> None:
    exchange = asked(target, answer({"type": "object", "additionalProperties": TEXT}))
    assert exchange.target_request.answer_tool
    assert not exchange.dropped


@pytest.mark.parametrize("target", CLAUDE)
@pytest.mark.parametrize(
    ("a", "strict", "dropped"),
    [
        ({"type": "integer", "minimum": 3}, True, ["tools.function.parameters.minimum"]),
        ({"type": "object", "additionalProperties": TEXT}, False, ["tools.function.strict"]),
        (TEXT, True, []),
    ],
)
def test_a_strict_tool_is_closed_or_is_not_strict(
    a: Json, strict: bool, dropped: list[str], target: str
) -> None:
    function = {"name": "f", "parameters": an_object(a=a), "strict": True}
    exchange = asked(target, {"tools": [{"type": "function", "function": function}]})
    body = json.loads(exchange.target_request.body)
    tool = body["tools"][0] if target == "messages" else body["toolConfig"]["tools"][0]["toolSpec"]
    schema = tool["input_schema"] if target == "messages" else tool["inputSchema"]["json"]
    assert (tool.get("strict", False), schema != an_object(a=a)) == (strict, strict)
    assert exchange.dropped == dropped
