"""Members that requests may spell in two ways get the name of the document."""

import orjson
import pytest

from engine.dialects.gemini.proto_json import json_name
from engine.spec.schemas.member_spellings import compile_spellings
from engine.values.errors import GatewayError
from engine.values.json_edit import apply_edits
from tests.support.each import each

CONFIG = {
    "type": "object",
    "properties": {"maxTokens": {"type": "integer"}, "stopWords": {"type": "array"}},
}
SCHEMA = {
    "type": "object",
    "properties": {
        "generationConfig": CONFIG,
        "generation_config": CONFIG,
        "plain_name": {"type": "object", "properties": {"innerName": {}}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "functionArgs": {"type": "object"},
        "parts": {
            "anyOf": [
                {"type": "array", "items": {"properties": {"inlineData": CONFIG}}},
                {"properties": {"inlineData": CONFIG}},
            ]
        },
        "byName": {"type": "object", "additionalProperties": CONFIG},
    },
}
SPELLINGS = compile_spellings(SCHEMA, lambda schema: schema, json_name)


def documented(value):
    text = value if isinstance(value, bytes) else orjson.dumps(value)
    return apply_edits(text, SPELLINGS.edits(text))


@each(
    ("sent", "expected"),
    [
        ({"generation_config": {"max_tokens": 1}}, {"generationConfig": {"maxTokens": 1}}),
        (
            {"generationConfig": {"stop_words": ["a_b"]}},
            {"generationConfig": {"stopWords": ["a_b"]}},
        ),
        ({"plainName": {"inner_name": 1}}, {"plain_name": {"innerName": 1}}),
        (
            {"parts": [{"inline_data": {"max_tokens": 1}}]},
            {"parts": [{"inlineData": {"maxTokens": 1}}]},
        ),
        ({"parts": {"inline_data": {}}}, {"parts": {"inlineData": {}}}),
        ({"by_name": {"a_b": {"max_tokens": 1}}}, {"byName": {"a_b": {"maxTokens": 1}}}),
        ({"labels": {"max_tokens": "x_y"}}, {"labels": {"max_tokens": "x_y"}}),
        (
            {"function_args": {"max_tokens": {"a_b": 1}}},
            {"functionArgs": {"max_tokens": {"a_b": 1}}},
        ),
        ({"unknown_name": {"max_tokens": 1}}, {"unknown_name": {"max_tokens": 1}}),
    ],
)
def test_members_of_messages_are_renamed_and_data_is_not(sent, expected):
    assert orjson.loads(documented(sent)) == expected


@each(
    "text",
    [
        b'{"generationConfig": {"maxTokens": 1.50, "x": "a_b"}}',
        b'{"labels":{"a_b":"c"},  "functionArgs":{"max_tokens":1}}',
        b'["a_b"]',
    ],
)
def test_a_request_without_another_spelling_keeps_every_byte(text):
    assert documented(text) == text


def test_escapes_do_not_hide_another_spelling():
    text = rb'{"g\u0065neration\u005Fconfig": {"max\u005ftokens": 1}}'
    assert documented(text) == b'{"generationConfig": {"maxTokens": 1}}'


@each(
    ("text", "param"),
    [
        (b'{"generation_config":{},"generationConfig":{}}', "generationConfig"),
        (b'{"generationConfig":{"maxTokens":1,"max_tokens":9}}', "generationConfig.max_tokens"),
        (b'{"parts":[{},{"inlineData":{},"inline_data":{}}]}', "parts[1].inline_data"),
    ],
)
def test_both_spellings_at_once_are_refused_with_both_names(text, param):
    with pytest.raises(GatewayError) as caught:
        documented(text)
    error = caught.value
    assert (error.status, error.code, error.param) == (400, "invalid_value", param)
    assert "two spellings of one member; send one of them" in error.message
    last = param.rpartition(".")[2]
    assert f"'{last}'" in error.message
    assert f"'{json_name(last)}'" in error.message


@each(
    ("steps", "expected"),
    [
        (("generation_config", "max_tokens"), ("generationConfig", "maxTokens")),
        (("parts", "0", "inline_data"), ("parts", "0", "inlineData")),
        (("labels", "a_b"), ("labels", "a_b")),
        (("x_y", "max_tokens"), ("x_y", "max_tokens")),
    ],
)
def test_a_path_of_the_config_has_the_documented_names(steps, expected):
    assert SPELLINGS.steps(steps) == expected


def test_a_condition_of_the_config_has_the_documented_names():
    condition = {
        "required": ["generation_config"],
        "properties": {
            "generation_config": {"properties": {"max_tokens": {"minimum": 2}}},
            "labels": {"properties": {"a_b": {"const": "x"}}},
            "parts": {"contains": {"required": ["inline_data"]}},
        },
        "anyOf": [{"dependentRequired": {"by_name": ["generation_config"]}}],
        "not": {"const": {"generation_config": {"max_tokens": 1}}},
    }
    assert SPELLINGS.schema(condition) == {
        "required": ["generationConfig"],
        "properties": {
            "generationConfig": {"properties": {"maxTokens": {"minimum": 2}}},
            "labels": {"properties": {"a_b": {"const": "x"}}},
            "parts": {"contains": {"required": ["inlineData"]}},
        },
        "anyOf": [{"dependentRequired": {"byName": ["generationConfig"]}}],
        "not": {"const": {"generationConfig": {"maxTokens": 1}}},
    }
