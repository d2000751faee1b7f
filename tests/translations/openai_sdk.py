"""The types of OpenAI's SDK and the shipped document, as judges of what is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from types import NoneType
from typing import Any, get_args, get_type_hints

from jsonschema import Draft202012Validator
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParams
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParams
from pydantic import TypeAdapter

from tests.support import yaml_text
from tests.support.paths import ROOT

Json = dict[str, Any]

_DOCUMENT = yaml_text.load((ROOT / "openapi" / "openai.yaml").read_bytes())
_CHAT: TypeAdapter[Any] = TypeAdapter(CompletionCreateParams)
_RESPONSE: TypeAdapter[Any] = TypeAdapter(ResponseCreateParams)
_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def check_chat_request(body: Json) -> None:
    """Raise a ValidationError for a request that is not of the SDK's type or of the document."""
    _drain(_CHAT.validate_python(body))
    _validator("ChatCompletionRequest").validate(body)


def check_responses_request(body: Json) -> None:
    """Raise a ValidationError for a request that is not of the SDK's type or of the document."""
    _drain(_RESPONSE.validate_python(body))
    _validator("ResponseRequest").validate(body)


@cache
def _validator(name: str) -> Draft202012Validator:
    """The validator of a schema of the shipped document."""
    return Draft202012Validator({**_DOCUMENT, "$ref": f"#/components/schemas/{name}"})


def _drain(value: Any) -> None:
    """Visit all of a validated value: pydantic checks the items of an iterable when they are
    taken."""
    if isinstance(value, dict):
        for each in value.values():
            _drain(each)
    elif isinstance(value, list | tuple) or type(value).__name__ == "ValidatorIterator":
        for each in value:
            _drain(each)


def chat_completion(body: bytes) -> ChatCompletion:
    """An answer, checked strictly."""
    return ChatCompletion.model_validate(json.loads(body), strict=True)


def chat_chunk(data: bytes) -> ChatCompletionChunk:
    """A chunk, checked strictly."""
    return ChatCompletionChunk.model_validate(json.loads(data), strict=True)


def response(body: bytes) -> Response:
    """An answer, checked strictly."""
    return Response.model_validate(json.loads(body), strict=True)


def response_event(data: bytes) -> Any:
    """An event of a stream, checked strictly."""
    return _EVENT.validate_python(json.loads(data), strict=True)


def members_of(*types: Any) -> set[str]:
    """The names of the members of TypedDicts, unions of them included."""
    return {name for each in types for plain in _plain(each) for name in get_type_hints(plain)}


def _plain(annotation: Any) -> Iterator[Any]:
    if arguments := get_args(annotation):
        for each in arguments:
            yield from _plain(each)
    elif hasattr(annotation, "__required_keys__"):
        yield annotation
    else:
        assert annotation in (NoneType, str), annotation
