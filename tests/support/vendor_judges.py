"""Judges of what is written for a vendor and for its callers: the SDKs' types, the documents that
are shipped, and the vendor's own document where it is there (MODELWAY_SHARED).
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from anthropic.types import Message, RawMessageStreamEvent
from google.genai import types as genai
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from tests.support import yaml_text
from tests.support.captures import SHARED
from tests.support.paths import ROOT
from tests.support.sdk_types import check_request as check_sdk_request

_VENDOR = "openai/openapi.yaml"
_REQUESTS = {
    "chat_completions": [
        ("openai", "ChatCompletionRequest"),
        (_VENDOR, "CreateChatCompletionRequest"),
    ],
    "responses": [("openai", "ResponseRequest"), (_VENDOR, "CreateResponse")],
    "messages": [("anthropic", "MessageRequest")],
    "generate_content": [("gemini", "GenerateContentRequest")],
}
_ANSWERS = {
    "chat_completions": [("openai", "ChatCompletion"), (_VENDOR, "CreateChatCompletionResponse")],
    "responses": [(_VENDOR, "Response")],
    "messages": [("anthropic", "Message")],
    "generate_content": [("gemini", "GenerateContentResponse")],
}
_EVENTS = {
    "chat_completions": [(_VENDOR, "CreateChatCompletionStreamResponse")],
    "responses": [(_VENDOR, "ResponseStreamEvent")],
    "messages": [],
    "generate_content": [("gemini", "GenerateContentResponse")],
}
_SDK_ANSWERS: dict[str, Any] = {
    "chat_completions": ChatCompletion,
    "responses": Response,
    "messages": Message,
    "generate_content": genai.GenerateContentResponse,
}
_SDK_EVENTS: dict[str, Any] = {
    "chat_completions": ChatCompletionChunk,
    "responses": ResponseStreamEvent,
    "messages": RawMessageStreamEvent,
    "generate_content": genai.GenerateContentResponse,
}
"""The schemas of each language, by the document that has them."""


def check_request(language: str, body: bytes) -> None:
    """Raise AssertionError, or pydantic's ValidationError, for a request that its vendor does not
    take."""
    check_sdk_request(language, body)
    _hold_against(_REQUESTS.get(language, []), body)


def check_answer(language: str, body: bytes) -> None:
    """Raise for an answer in one piece that callers of a language do not expect."""
    _hold_against_sdk(_SDK_ANSWERS, language, body)
    _hold_against(_ANSWERS[language], body)


def check_event(language: str, data: bytes) -> None:
    """Raise for the data of a stream's event that callers of a language do not expect."""
    if not (language == "chat_completions" and data == b"[DONE]"):
        _hold_against_sdk(_SDK_EVENTS, language, data)
        _hold_against(_EVENTS[language], data)


def _hold_against_sdk(types: dict[str, Any], language: str, body: bytes) -> None:
    is_strict = language != "generate_content"  # its SDK reads enumerations and bytes from texts
    _adapter(types[language]).validate_python(json.loads(body), strict=is_strict)


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _hold_against(schemas: list[tuple[str, str]], body: bytes) -> None:
    value = json.loads(body)
    for document, name in schemas:
        if document != _VENDOR or _vendors_own():
            error = best_match(_validator(document, name).iter_errors(value))
            assert error is None, f"{document} {name}: {error.json_path}: {error.message[:500]}"


@cache
def _validator(document: str, name: str) -> Draft202012Validator:
    root = _vendors_own() if document == _VENDOR else _shipped(document)
    return Draft202012Validator({**root, "$ref": f"#/components/schemas/{name}"})


def _shipped(name: str) -> Any:
    return yaml_text.load((ROOT / "openapi" / f"{name}.yaml").read_bytes())


@cache
def _vendors_own() -> Any:
    """The vendor's document, None where it is not there."""
    file = SHARED / "documents" / _VENDOR
    if not file.is_file():
        return None
    return _repaired(yaml_text.load(file.read_bytes()))


def _repaired(node: Any) -> Any:
    """A part of the vendor's document as it is meant: its alternatives overlap, some say
    `nullable` as OpenAPI 3.0 did, and its own examples of responses have nulls."""
    if isinstance(node, list):
        return [_repaired(each) for each in node]
    if not isinstance(node, dict):
        return node
    node = {_WORDS.get(name, name): _repaired(value) for name, value in node.items()}
    properties = node.get("properties", {})
    for name in _NULL_IN_EXAMPLES & properties.keys():
        properties[name] = {"anyOf": [properties[name], {"type": "null"}]}
    if node.pop("nullable", False) is True:
        return {"anyOf": [node, {"type": "null"}]}
    return node


_WORDS = {"oneOf": "anyOf"}
_NULL_IN_EXAMPLES = {"user", "usage"}
