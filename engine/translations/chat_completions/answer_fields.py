"""The shapes of answers, and what answers and streams have in common.

Members that are read only now and then are left as they came (`Raw`), so that an odd value of a
vendor's fails nothing where it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import Shape, TextPiece, texts_of
from engine.translations.neutral.json_members import WrongType, value_of
from engine.translations.vendors.openai_content import Token, UrlCitation, read_citation, read_url
from engine.values.trees import Json
from engine.values.usage import Usage


class Function(Struct):
    name: str | None = None
    arguments: str | None = None
    parameters: str | None = None  # the arguments, in the words that models of Llama's have


class Call(Function):
    """Gemini adds `extra_content`, with a signature. Some servers write the members of the function
    into the call itself."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    extra_content: Raw = Raw()


class ImageUrl(Struct):
    url: str | None = None


class Image(Struct):
    """An image, in a member that OpenRouter has added."""

    image_url: ImageUrl | str | None = None


class Annotation(Struct):
    """A mark on a text; only those with a source are read."""

    url_citation: UrlCitation | None = None


class TextValue(Struct):
    """A text as OpenAI's Assistants have it."""

    value: str | None = None


class ContentPart(Image):
    """A part of a content that is a list, as Mistral writes it; Databricks adds `summary`."""

    type: str | None = None
    text: str | TextValue | None = None
    refusal: str | None = None
    thinking: list[TextPiece] | str | None = None
    summary: list[TextPiece] | None = None


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
    deltas, or the `text` that a completion has, or `finishReason`."""

    index: int | None = None
    delta: Message | None = None
    message: Raw = Raw()
    text: Raw = Raw()
    logprobs: Logprobs | None = None
    finish_reason: str | None = None
    other_reason: str | None = field(default=None, name="finishReason")
    stop_reason: Any = None
    error: Any = None


class WholeChoice(Choice):
    delta: Message | None = field(default=None, name="message")
    message: Raw = field(default_factory=Raw, name="delta")


class Sources(Struct):
    """The pages that an answer was written from, beside its choices (Perplexity)."""

    search_results: Raw = Raw()
    citations: Raw = Raw()


class Chunk(Sources):
    choices: list[Choice] | None = None
    usage: Raw = Raw()
    error: Any = None


class Completion(Sources):
    choices: list[WholeChoice] | None = None
    usage: Raw = Raw()
    error: Any = None


class Head(Struct):
    id: str | None = None
    model: str | None = None
    created: int | None = None


_OPTIONAL = (
    *("id", "model", "created", "logprobs", "annotations", "stop_reason"),
    *("reasoning_details", "reasoning_content", "reasoning", "summary"),
)

_JSON_TEXTS = ("arguments", "parameters")
_PARTS = ("content", "reasoning_content", "reasoning")

CHUNK = Shape(Chunk, _OPTIONAL, _JSON_TEXTS, _PARTS)
COMPLETION = Shape(Completion, _OPTIONAL, (*_JSON_TEXTS, *_PARTS), _PARTS)  # Cloudflare
HEAD = Shape(Head, _OPTIONAL, _JSON_TEXTS)
MESSAGE = Shape(Message, _OPTIONAL, _JSON_TEXTS, _PARTS)
TEXT = Shape(str, _OPTIONAL, _JSON_TEXTS)
ANNOTATIONS: Shape[list[Annotation | None] | None] = Shape(list[Annotation | None] | None, {""})


NAME = "chat_completions"
PREFIX = "chatcmpl-"
REASONING_MEMBERS = ("reasoning_content", "reasoning")
"""Members with the text of thoughts that vendors have added: DeepSeek and others the first,
OpenRouter and others the second."""
THOUGHT_PARTS = ("thinking", "reasoning")
EMPTY_PARTS = ("text", "thinking", "reference", "tool_reference")
"""The parts of a content that say nothing more to the caller."""

STOPS: dict[str, events.Stop] = {
    "stop": "end",
    "length": "length",
    "model_length": "length",  # Mistral
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "filter",
}
_REASONS: dict[events.Stop, str] = {
    "end": "stop",
    "stop_sequence": "stop",
    "pause": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "filter": "content_filter",
}


def why_stopped(reason: str) -> events.Stop:
    return STOPS.get(reason) or events.foreign_stop(reason) or "end"


def write_counts(usage: Usage) -> Json:
    details = {"cached_tokens": usage.cached}
    if usage.cache_write:
        details["cache_write_tokens"] = usage.cache_write
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def write_finish(finish: events.Finish) -> Json:
    """The members of a choice that say why it ended. Other vendors' words and the stop sequence
    that was met have the members that OpenRouter and vLLM have added."""
    members: Json = {"finish_reason": _REASONS[finish.stop]}
    if finish.native and finish.native not in STOPS:
        members["native_finish_reason"] = finish.native
    if finish.sequence:
        members["stop_reason"] = finish.sequence
    return members


def read_image(image: Image, place: str) -> neutral.Media:
    """An image of an answer. Raises WrongType for one without its URL."""
    where = image.image_url
    url = where if where is None or isinstance(where, str) else where.url
    if not url:
        raise WrongType(f"{place}.image_url", "an image with its URL")
    return neutral.Media(kind="image", source=read_url(url, place))


def text_of(part: ContentPart) -> str:
    text = part.text
    return (text.value if isinstance(text, TextValue) else text) or ""


def read_thinking(part: ContentPart) -> str:
    thinking = part.thinking or part.summary or text_of(part)
    return thinking if isinstance(thinking, str) else "".join(texts_of(thinking))


def read_annotations(annotations: Raw) -> list[neutral.Citation]:
    """The sources in a member of an answer; none in one of another form."""
    if bytes(annotations)[:1] != b"[":
        return []
    shapes = ANNOTATIONS.read(annotations, "annotations") or ()
    pages = [each.url_citation for each in shapes if each is not None]
    return [read_citation(page) for page in pages if page is not None]


_PAGES = msgspec.json.Decoder(list[UrlCitation | str])


def names_sources(answer: Sources) -> bool:
    """Whether an answer names pages, in whatever form: some servers write empty members."""
    members = bytes(answer.search_results), bytes(answer.citations)
    return any(member not in (b"", b"null", b"[]") for member in members)


def read_sources(answer: Sources) -> list[neutral.Citation]:
    """The pages that an answer names beside its choices; none in members of another form."""
    lists = (value_of(_PAGES, raw) for raw in (answer.search_results, answer.citations))
    pages = next(filter(None, lists), ())
    return [read_citation(UrlCitation(url=o) if isinstance(o, str) else o) for o in pages]


def citations_in(
    citations: Iterable[neutral.Citation], block_start: int, candidate: int
) -> Iterator[events.Cite]:
    """What the open block of text cites, which begins at `block_start` of all text. The vendor
    counts from the beginning of all; a span that begins in an earlier block is told without its
    place."""
    for citation in citations:
        start, end = citation.start, citation.end
        if start is None or end is None or start < block_start:
            citation.start = citation.end = None
        yield events.Cite(citation.moved(-block_start), candidate)
