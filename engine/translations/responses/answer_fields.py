"""The shapes of answers and of the events of streams, and what they have in common with requests.

An item is read by its `type`, or by its members if that is missing or not known here; one that says
nothing so is passed on as it came (`Raw`).
"""

from __future__ import annotations

from msgspec import Raw, Struct

from engine.translations.neutral import content as neutral
from engine.translations.neutral.answer_json import Shape, TextPiece, texts_of
from engine.translations.neutral.json_members import NULL
from engine.translations.vendors import openai_content
from engine.values.trees import Json
from engine.values.usage import Usage


class Annotation(openai_content.UrlCitation):
    """A mark on a text; only those of the type `url_citation` are read."""

    type: str | None = None


class DonePart(TextPiece):
    """The end of a text, of a refusal or of arguments, and what it was, in a stream."""

    refusal: str | None = None
    arguments: str | None = None
    annotations: Raw = NULL


class Part(TextPiece):
    type: str | None = None
    refusal: str | None = None
    annotations: list[Annotation] | None = None
    logprobs: list[openai_content.Token] | None = None


class Kind(Struct):
    type: str | None = None
    id: str | None = None
    call_id: str | None = None


class Item(Kind):
    """The members that say the kind where the type does not."""

    role: Raw = NULL
    content: Raw = NULL
    name: Raw = NULL
    arguments: Raw = NULL
    summary: Raw = NULL


class ImageCall(Struct):
    result: str | None = None
    output_format: str | None = None


class Message(Struct):
    content: list[Part] | str | None = None


class Call(Kind):
    name: str | None = None
    arguments: str | None = None


class Thoughts(Struct):
    id: str | None = None
    summary: list[TextPiece] | None = None
    content: list[TextPiece] | None = None
    encrypted_content: str | None = None


class Head(Struct):
    id: str | None = None
    model: str | None = None
    created_at: float | None = None


class IncompleteDetails(Struct):
    reason: str | None = None


class Response(Struct):
    status: str | None = None
    error: Raw = NULL
    incomplete_details: IncompleteDetails | None = None
    output: list[Raw] | None = None
    output_text: str | None = None


class StreamEvent(Struct):
    """What each event of a stream has; `output_index` and `item_id` those of an item."""

    type: str | None = None
    output_index: int | None = None
    item_id: str | None = None


class TextDelta(Struct):
    delta: str | None = None
    logprobs: list[openai_content.Token] | None = None


class DetailEvent(Struct):
    """An event of an item beside its deltas: the item or a part of it, which begins or is complete,
    the number of the part of a summary, or a mark on the open text."""

    item: Raw = NULL
    part: Raw = NULL
    summary_index: int | None = None
    annotation: Annotation | None = None


class HeadEvent(Struct):
    response: Head | None = None


class EndEvent(Struct):
    response: Response | None = None


_OPTIONAL = (
    *("id", "model", "created_at", "call_id", "logprobs", "annotations", "annotation"),
    *("item_id", "summary", "summary_index", "encrypted_content", "output_format", "reason"),
    *("incomplete_details", "output_text"),
)

_JSON_TEXTS = ("arguments", "delta")
_PARTS = ("content", "summary")

ANNOTATIONS: Shape[list[Annotation] | None] = Shape(list[Annotation] | None, _OPTIONAL, _JSON_TEXTS)
KIND: Shape[Kind | None] = Shape(Kind | None, _OPTIONAL, _JSON_TEXTS)
ITEM = Shape(Item, _OPTIONAL, _JSON_TEXTS)
IMAGE_CALL = Shape(ImageCall, _OPTIONAL, _JSON_TEXTS)
MESSAGE = Shape(Message, _OPTIONAL, _JSON_TEXTS, _PARTS)
THOUGHTS = Shape(Thoughts, _OPTIONAL, _JSON_TEXTS, _PARTS)
HEAD = Shape(Head, _OPTIONAL, _JSON_TEXTS)
RESPONSE = Shape(Response, _OPTIONAL, _JSON_TEXTS)
STREAM_EVENT = Shape(StreamEvent, _OPTIONAL, _JSON_TEXTS)
TEXT_DELTA = Shape(TextDelta, _OPTIONAL, _JSON_TEXTS)
HEAD_EVENT = Shape(HeadEvent, _OPTIONAL, _JSON_TEXTS)
END_EVENT = Shape(EndEvent, _OPTIONAL, _JSON_TEXTS)
DONE_PART: Shape[DonePart | None] = Shape(DonePart | None, _OPTIONAL, _JSON_TEXTS)
DETAIL_EVENT = Shape(DetailEvent, _OPTIONAL, _JSON_TEXTS)
CALL = Shape(Call, _OPTIONAL, _JSON_TEXTS)


NAME = "responses"
PREFIX = "resp_"


def write_counts(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cached,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def read_signature(content: str, item_id: str) -> neutral.Signature | None:
    """The encrypted content, with the id of its item, which the vendor wants back as well."""
    signature = neutral.unseal(content, NAME) if content else None
    if signature is None or signature.language != NAME:
        return signature
    return neutral.Signature(NAME, f"{item_id} {content}")


def signed_members(signature: neutral.Signature) -> Json:
    """The members of an item of reasoning that say a signature of this language."""
    item_id, _, content = signature.value.rpartition(" ")
    return {**({"id": item_id} if item_id else {}), "encrypted_content": content}


def thoughts(summary: list[TextPiece] | None, content: list[TextPiece] | None) -> str:
    """The summary of an item of reasoning, or its text where it has no summary."""
    return "\n\n".join(texts_of(summary)) or "".join(texts_of(content))


def summary_of(block: neutral.Reasoning) -> list[Json]:
    return [{"type": "summary_text", "text": block.text}] if block.text else []


def read_citations(annotations: list[Annotation] | None) -> list[neutral.Citation]:
    return [
        openai_content.read_citation(each)
        for each in annotations or ()
        if each.type == "url_citation"
    ]


def write_annotation(citation: neutral.Citation, length: int) -> Json:
    """The annotation of a text of so many characters."""
    return {"type": "url_citation", **openai_content.write_citation(citation, 0, length)}
