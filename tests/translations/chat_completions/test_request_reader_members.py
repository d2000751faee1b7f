"""Every member that the SDK can send is carried, lost by name, a hint or harmless: a new one fails
here until somebody has decided."""

from __future__ import annotations

import json
from typing import Any

from openai.types.chat import ChatCompletionMessageParam
from openai.types.chat.chat_completion_content_part_param import ChatCompletionContentPartParam
from openai.types.chat.completion_create_params import CompletionCreateParams

from engine.translations.chat_completions import LANGUAGE
from engine.translations.chat_completions.request_reader import read_request
from engine.translations.neutral.language import RequestLine
from engine.translations.neutral.losses import Loss
from tests.support.each import each
from tests.translations.openai_members import fate
from tests.translations.openai_sdk import members_of

Json = dict[str, Any]

FUNCTION = {"name": "f", "parameters": {"type": "object"}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}
REQUEST: Json = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}

MEMBERS: dict[str, tuple[Any, str]] = {
    "model": ("other", "carried"),
    "messages": ([{"role": "user", "content": "Ho"}], "carried"),
    "stream": (True, "carried"),
    "tools": ([{"type": "function", "function": FUNCTION}], "carried"),
    "tool_choice": ("required", "carried"),
    "parallel_tool_calls": (False, "carried"),
    "response_format": (SCHEMA, "carried"),
    "max_tokens": (9, "carried"),
    "max_completion_tokens": (9, "carried"),
    "temperature": (0.5, "carried"),
    "top_p": (0.5, "carried"),
    "n": (2, "carried"),
    "seed": (7, "carried"),
    "stop": (["END"], "carried"),
    "presence_penalty": (0.5, "carried"),
    "frequency_penalty": (0.5, "carried"),
    "logprobs": (True, "carried"),
    "top_logprobs": (2, "carried"),
    "reasoning_effort": ("low", "carried"),
    "verbosity": ("low", "carried"),
    "user": ("u", "carried"),
    "stream_options": ({"include_usage": True}, "carried"),
    "web_search_options": ({}, "carried"),
    "store": (True, "lost"),
    "modalities": (["text", "audio"], "lost"),
    "audio": ({"voice": "alloy", "format": "wav"}, "lost"),
    "logit_bias": ({"5": 1}, "lost"),
    "prediction": ({"type": "content", "content": "x"}, "lost"),
    "moderation": ({"model": "m"}, "lost"),
    "functions": ([FUNCTION], "carried"),
    "function_call": ("auto", "carried"),
    "metadata": ({"a": "b"}, "hint"),
    "safety_identifier": ("s", "hint"),
    "service_tier": ("flex", "hint"),
    "prompt_cache_key": ("k", "hint"),
    "prompt_cache_retention": ("24h", "hint"),
    "prompt_cache_options": ({"mode": "explicit"}, "hint"),
}


def test_every_member_of_the_sdk_is_decided() -> None:
    assert set(MEMBERS) == members_of(CompletionCreateParams)


@each(("member", "value", "expected"), [(name, *rest) for name, rest in MEMBERS.items()])
def test_members(member: str, value: Any, expected: str) -> None:
    assert fate(LANGUAGE, REQUEST, member, value) == expected


@each(
    ("member", "value"),
    [
        ("store", False),
        ("logit_bias", {}),
        ("modalities", ["text"]),
        ("stream_options", {}),
        ("tools", []),
    ],
)
def test_values_that_change_nothing(member: str, value: Any) -> None:
    assert fate(LANGUAGE, REQUEST, member, value) == "harmless"


@each(
    ("options", "expected"),
    [
        ({"search_context_size": "low"}, "hint"),
        ({"user_location": {"type": "approximate", "approximate": {}}}, "lost"),
    ],
)
def test_options_of_the_web_search_are_this_vendors(options: Json, expected: str) -> None:
    assert fate(LANGUAGE, REQUEST, "web_search_options", options) == expected


def lost_places(message: Json) -> list[str]:
    body = json.dumps({"model": "m", "messages": [message]}).encode()
    return [Loss(place).field for place in read_request(body, RequestLine()).unread]


CALLS = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
ANSWER: Json = {"role": "assistant", "content": "Hi"}
MESSAGES: dict[str, tuple[Json, list[str]]] = {
    "role": ({"role": "user", "content": "x"}, []),
    "content": ({"role": "developer", "content": "x"}, []),
    "tool_call_id": ({"role": "tool", "tool_call_id": "c1", "content": "x"}, []),
    "tool_calls": ({**ANSWER, "tool_calls": CALLS}, []),
    "refusal": ({**ANSWER, "refusal": "No."}, []),
    "name": ({"role": "user", "content": "x", "name": "anna"}, ["messages.name"]),
    "audio": ({**ANSWER, "audio": {"id": "a"}}, ["messages.audio"]),
    "function_call": (
        {**ANSWER, "function_call": {"name": "f", "arguments": "{}"}},
        [],
    ),
}


def test_every_member_of_a_message_is_decided() -> None:
    assert set(MESSAGES) == members_of(ChatCompletionMessageParam)


@each(("message", "expected"), MESSAGES.values())
def test_members_of_messages(message: Json, expected: list[str]) -> None:
    assert lost_places(message) == expected


def test_nulls_and_what_sdks_made_of_an_answer_are_no_losses() -> None:
    echo = {
        **ANSWER,
        "audio": None,
        "function_call": None,
        "refusal": None,
        "annotations": [],
        "parsed": {"x": 1},
    }
    assert lost_places(echo) == []


PART: Json = {
    "text": "x",
    "image_url": {"url": "https://a/b"},
    "input_audio": {"data": "UklG", "format": "wav"},
    "file": {"file_id": "f", "filename": "n"},
    "prompt_cache_breakpoint": {"mode": "explicit"},
}
PARTS = [
    ("text", "text"),
    ("image_url", "image_url"),
    ("input_audio", "input_audio"),
    ("file", "file"),
]


def test_every_member_of_a_part_is_decided() -> None:
    assert members_of(ChatCompletionContentPartParam) == {*PART, "type"}


@each(("kind", "member"), PARTS)
def test_members_of_parts(kind: str, member: str) -> None:
    marks = {"prompt_cache_breakpoint": PART["prompt_cache_breakpoint"]}
    part = {"type": kind, member: PART[member], **marks}
    places = lost_places({"role": "user", "content": [part]})
    assert places == ["messages.content.prompt_cache_breakpoint"]
    assert LANGUAGE.hints.match(places[0])
