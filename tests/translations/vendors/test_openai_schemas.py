"""The schemas of tools' arguments and of answers as OpenAI takes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from engine.translations import translation
from engine.translations.neutral.json_members import Members, WrongType
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.refusals import UNREADABLE, LossRules
from engine.translations.neutral.request import ChatRequest, OutputFormat, Tool
from engine.translations.translation import Translation
from engine.translations.vendors.openai_schemas import (
    is_strict,
    read_schema,
    write_parameters,
    write_schema,
)
from tests.support.each import each

OBJECT = {"type": "object", "properties": {}}
COMPLETE = {"type": "array", "items": {}}
FLAT = {
    "type": "object",
    "properties": {"a": COMPLETE},
    "description": "A.\n\nFurther keywords of its JSON Schema: "
    '{"anyOf":[{"properties":{"a":{"type":"array"}}}]}',
}
DEEP = b"[" * 5_000 + b"]" * 5_000


def written(schema: object) -> object:
    parameters = write_parameters(Tool(name="f", schema=Raw(json.dumps(schema).encode())))
    assert parameters is not None
    return json.loads(bytes(parameters))


@each(
    "schema,expected",
    [
        ({}, OBJECT),
        ({"type": "object"}, OBJECT),
        ({"properties": {}, "required": []}, {**OBJECT, "required": []}),
        ({"type": ["object", "null"]}, {"type": ["object", "null"]}),
        ({"anyOf": [{"properties": {"a": {"type": "array"}}}], "description": "A."}, FLAT),
        (
            {**OBJECT, "properties": {"type": {"type": "array"}}},
            {**OBJECT, "properties": {"type": {"type": "array", "items": {}}}},
        ),
        (
            {**OBJECT, "properties": {"enum": {"type": "array"}, "default": {"type": "array"}}},
            {**OBJECT, "properties": {"enum": COMPLETE, "default": COMPLETE}},
        ),
        (
            {**OBJECT, "properties": {"items": {"type": "array"}}, "required": ["items"]},
            {**OBJECT, "properties": {"items": COMPLETE}, "required": ["items"]},
        ),
        (
            {**OBJECT, "$defs": {"const": {"type": "array", "items": {"type": "array"}}}},
            {**OBJECT, "$defs": {"const": {"type": "array", "items": COMPLETE}}},
        ),
        (
            {**OBJECT, "properties": {"a": {"type": ["array", "null"]}, "b": True}},
            {**OBJECT, "properties": {"a": {"type": ["array", "null"], "items": {}}, "b": True}},
        ),
        (
            {**OBJECT, "properties": {"a": {"enum": [{"type": "array"}]}, "b": {"type": "array"}}},
            {**OBJECT, "properties": {"a": {"enum": [{"type": "array"}]}, "b": COMPLETE}},
        ),
        (
            {**OBJECT, "properties": {"a": {"anyOf": [{"type": "array"}, {"type": "null"}]}}},
            {**OBJECT, "properties": {"a": {"anyOf": [COMPLETE, {"type": "null"}]}}},
        ),
        (
            {**OBJECT, "properties": {"a": {"type": "array", "prefixItems": [OBJECT]}}},
            {**OBJECT, "properties": {"a": {"type": "array", "prefixItems": [OBJECT]}}},
        ),
    ],
)
def test_a_schema_is_completed(schema: object, expected: object) -> None:
    assert written(schema) == expected
    assert written(expected) == expected


def test_a_complete_schema_is_itself() -> None:
    schema = Raw(b'{ "type":"object", "properties":{ "a":{"type":"array","items":{}} } }')
    assert bytes(write_parameters(Tool(name="f", schema=schema)) or b"") == bytes(schema)
    assert write_parameters(Tool(name="f")) is None


def test_a_long_schema_is_completed_each_time() -> None:
    names = {f"property {number}": {"type": "array"} for number in range(900)}
    items = {name: {"type": "array", "items": {}} for name in names}
    assert written({**OBJECT, "properties": names}) == {**OBJECT, "properties": items}


@each(
    "text",
    [b'{"type": "array", "default": 1e999}', b'{"a": {"type": "array"}, "b": %b}' % DEEP],
)
def test_a_schema_that_cannot_be_read_is_refused(text: bytes) -> None:
    with pytest.raises(UNREADABLE):
        write_parameters(Tool(name="f", schema=Raw(text)))


def test_a_schema_that_is_no_object_is_refused() -> None:
    with pytest.raises(WrongType):
        write_parameters(Tool(name="f", schema=Raw(b"[]")))


@each(
    "output",
    [
        OutputFormat(kind="json_schema", name="n", schema=Raw(b'{"a":1.0}')),
        OutputFormat(kind="json_schema", name="n", description="d", schema=Raw(b"{}"), strict=True),
    ],
)
def test_schemas_survive(output: OutputFormat) -> None:
    def encoded(value: Any) -> Any:
        return json.loads(bytes(value))

    request = ChatRequest(language="responses", model="m", messages=[])
    members = {**write_schema(request, output, None), "schema": encoded(output.schema)}
    text = json.dumps(members, separators=(",", ":")).encode()
    assert read_schema(Members(text)) == output


Json = dict[str, Any]

TEXT = {"type": "string"}
TURN = {"role": "user", "content": "Hi"}


def closed(**properties: Any) -> Json:
    members = {"type": "object", "properties": properties, "required": list(properties)}
    return {**members, "additionalProperties": False}


OPEN = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
OPTIONAL = {**closed(a=TEXT, b=TEXT), "required": ["a"]}


@each(
    ("schema", "strict"),
    [
        (closed(a=TEXT, b={"type": ["integer", "null"], "minimum": 3}), True),
        (closed(), True),
        (closed(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": closed(b=TEXT)}}, True),
        (closed(a={"anyOf": [closed(b=TEXT), {"type": "null"}]}), True),
        (closed(a={"type": "array", "items": closed(b={"enum": ["x"]})}), True),
        (OPEN, False),
        (OPTIONAL, False),
        (closed(a=OPTIONAL), False),
        (closed(a={"type": ["object", "null"]}), False),
        (closed(a={"type": "array", "items": OPEN}), False),
        (closed(a={"anyOf": [OPEN, TEXT]}), False),
        (closed(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": OPEN}}, False),
        (closed(a={"allOf": [TEXT]}), False),
        (closed(a={"oneOf": [TEXT]}), False),
        (closed(a={}), False),
        (closed(a=True), False),
        (closed(a=TEXT) | {"required": 7}, False),
        (closed(a=TEXT) | {"properties": 7}, False),
        (closed(a={"anyOf": 7}), False),
        ({"anyOf": [closed(a=TEXT)]}, False),
        (TEXT, False),
        ([], False),
    ],
)
def test_every_object_is_closed_and_requires_all(schema: Any, strict: bool) -> None:
    assert is_strict(Raw(json.dumps(schema).encode())) == strict


def test_a_tool_without_a_schema_is_not_strict() -> None:
    assert not is_strict(None)


def tool(caller: str, schema: Json) -> Json:
    function = {"name": "f", "strict": True}
    if caller == "chat_completions":
        return {"type": "function", "function": {**function, "parameters": schema}}
    if caller == "responses":
        return {"type": "function", **function, "parameters": schema}
    return {**function, "input_schema": schema}


def form(caller: str, schema: Json) -> Json:
    named = {"name": "x", "strict": True, "schema": schema}
    if caller == "chat_completions":
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if caller == "responses":
        return {"text": {"format": {"type": "json_schema", **named}}}
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


TURNS: dict[str, Json] = {
    "chat_completions": {"messages": [TURN]},
    "responses": {"input": "Hi"},
    "messages": {"messages": [TURN], "max_tokens": 99},
}
PLACES = {
    "chat_completions": ["tools.function.strict", "response_format.json_schema.strict"],
    "responses": ["tools.strict", "text.format.strict"],
    "messages": ["tools.strict", "output_config.format.schema"],
}


def stricts(target: str, body: Json) -> list[Any]:
    """`strict` of the tool and of the answer."""
    if target == "responses":
        return [body["tools"][0].get("strict"), body["text"]["format"].get("strict")]
    schema = body["response_format"]["json_schema"]
    return [body["tools"][0]["function"].get("strict"), schema.get("strict")]


@pytest.mark.parametrize("schema", [closed(a=TEXT), OPEN, OPTIONAL])
@pytest.mark.parametrize(
    ("caller", "target"),
    [(a, b) for a in TURNS for b in ("chat_completions", "responses") if a != b],
)
def test_strict_is_sent_only_where_it_is_taken(caller: str, target: str, schema: Json) -> None:
    pair = translation(caller, target)
    assert isinstance(pair, Translation)
    members = {**TURNS[caller], "tools": [tool(caller, schema)], **form(caller, schema)}
    body = json.dumps({"model": "m", **members}).encode()
    exchange = pair.request(body, RequestLine(model="m"), "gpt-5", LossRules())
    sent = json.loads(exchange.target_request.body)
    is_taken = schema == closed(a=TEXT)
    assert [bool(each) for each in stricts(target, sent)] == [is_taken, is_taken]
    assert exchange.dropped == ([] if is_taken else PLACES[caller])
