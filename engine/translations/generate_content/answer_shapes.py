"""The shapes of answers: what is read of them, under the names of the vendor's document.

What is read seldom is left as it came (`Raw`), and so are the parts of a kind not known here.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.generate_content.fields import Fields
from engine.translations.neutral.members import NULL
from engine.translations.neutral.shapes import Shape


class Call(Struct, rename="camel"):
    """A call of a function, or a piece of one."""

    id: str | None = None
    name: str | None = None
    args: Raw = NULL
    partial_args: list[Raw] | None = None
    will_continue: bool | None = None


class Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: Call | None = None
    inline_data: Raw = NULL
    file_data: Raw = NULL


class Content(Struct):
    parts: list[Part] | None = None


class Candidate(Struct, rename="camel"):
    """One of the answers, or what is new of it."""

    index: int | None = None
    content: Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    logprobs_result: Raw = Raw()
    grounding_metadata: Raw = Raw()
    citation_metadata: Raw = Raw()


class Feedback(Struct, rename="camel"):
    block_reason: str | None = None


class Answer(Struct, rename="camel"):
    candidates: list[Candidate] | None = None
    prompt_feedback: Feedback | None = None
    error: Raw = Raw()


class Head(Struct, rename="camel"):
    """What only the first event is asked for."""

    response_id: str | None = None
    model_version: str | None = None


_KEPT = frozenset(
    (
        *("id", "responseId", "modelVersion", "finishMessage", "promptFeedback"),
        *("thoughtSignature", "error"),
    )
)
"""Members that an answer is given without if they are not well formed (`Shape`)."""

ANSWER = Shape(Answer, _KEPT)
HEAD = Shape(Head, _KEPT)

_ITEMS = Decoder(list[Raw])
_INSIDE = ("candidates", "content", "parts", "functionCall", "promptFeedback")
"""The members whose own members are read here."""

_SHAPES = (Call, Part, Candidate, Feedback, Answer, Head)
_SNAKE_NAMES = [
    name
    for shape in _SHAPES
    for name in shape.__struct_fields__
    if name not in shape.__struct_encode_fields__
]
_SNAKE_NAME = re.compile(rb'"(?:%b)"\s*:' % "|".join(_SNAKE_NAMES).encode())


def documented(text: bytes) -> bytes:
    """An answer with its members under the documented names: Protocol Buffers' JSON allows snake
    case too (`finish_reason`). Raises WrongType."""
    if _SNAKE_NAME.search(text) is None:
        return text
    return msgspec.json.encode(_documented(Raw(text.strip())))


def _documented(raw: Raw) -> Any:
    begin = bytes(memoryview(raw)[:1])
    if begin == b"[":
        return [_documented(item) for item in _ITEMS.decode(raw)]
    if begin != b"{":
        return raw
    members = Fields(raw).copy()
    return {
        name: _documented(members[name]) if name in _INSIDE else members[name] for name in members
    }
