"""The shapes of chat completions answers: what is read of them.

Members that are read only now and then are left as they came (`Raw`), so that an odd value of a
vendor's fails nothing where it says nothing.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct, field

from engine.translations.neutral.shapes import Shape
from engine.translations.openai_answer_fields import Token, UrlCitation


class Function(Struct):
    name: str | None = None
    arguments: str | None = None


class Call(Struct):
    """Gemini adds `extra_content`, with a signature."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    extra_content: Raw = Raw()


class ImageUrl(Struct):
    """Where an image is: a URL of it or with it."""

    url: str | None = None


class Image(Struct):
    """An image, in a member that OpenRouter has added."""

    image_url: ImageUrl | str | None = None


class Annotation(Struct):
    """A mark on a text; only those with a source are read."""

    url_citation: UrlCitation | None = None


class TextPart(Struct):
    text: str | None = None


class ContentPart(Image):
    """A part of a content that is a list, as Mistral writes it."""

    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    thinking: list[TextPart] | str | None = None


class Message(Struct):
    """A message, or a delta of one. `function_call` is what came before `tool_calls`."""

    content: str | list[ContentPart] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Raw]] | None = None
    annotations: Raw = Raw()
    tool_calls: list[Call] | None = None
    function_call: Function | None = None
    images: list[Image] | None = None
    audio: Any = None
    text: Any = None
    extra_content: Raw = Raw()


class Logprobs(Struct):
    content: list[Token] | None = None
    refusal: list[Token] | None = None


class Choice(Struct):
    """A choice of a chunk. OpenRouter has added `error`, and vLLM `stop_reason`: the stop sequence
    that was met, or the number of a token. Some servers have a whole `message` in place of the
    deltas, or the `text` that a completion has."""

    index: int | None = None
    delta: Message | None = None
    message: Raw = Raw()
    text: Raw = Raw()
    logprobs: Logprobs | None = None
    finish_reason: str | None = None
    stop_reason: Any = None
    error: Any = None


class WholeChoice(Choice):
    delta: Message | None = field(default=None, name="message")
    message: Raw = field(default_factory=Raw, name="delta")


class Chunk(Struct):
    choices: list[Choice] | None = None
    usage: Raw = Raw()
    error: Any = None


class Completion(Struct):
    choices: list[WholeChoice] | None = None
    usage: Raw = Raw()
    error: Any = None


class Head(Struct):
    """What only the first chunk is asked for."""

    id: str | None = None
    model: str | None = None
    created: int | None = None


_KEPT = frozenset(
    (
        *("id", "model", "created", "logprobs", "annotations", "stop_reason"),
        *("reasoning_details", "reasoning_content", "reasoning"),
    )
)
"""Members that an answer is given without if they are not well formed (`Shape`)."""

_JSON_TEXTS = frozenset({"arguments"})

CHUNK = Shape(Chunk, _KEPT, _JSON_TEXTS)
COMPLETION = Shape(Completion, _KEPT, _JSON_TEXTS)
HEAD = Shape(Head, _KEPT, _JSON_TEXTS)
MESSAGE = Shape(Message, _KEPT, _JSON_TEXTS)
TEXT = Shape(str, _KEPT, _JSON_TEXTS)
ANNOTATIONS = Shape(list[Annotation | None] | None, {""})
