"""The shapes of responses and of the events of their streams: what is read of them.

An item is read by its `type`, or by its members if that is missing or not known here; one that says
nothing so is passed on as it came (`Raw`).
"""

from __future__ import annotations

from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.openai_answer_fields import Token, UrlCitation


class Annotation(UrlCitation):
    """A mark on a text; only those of the type `url_citation` are read."""

    type: str | None = None


class TextPart(Struct):
    """A part of an item that is a text."""

    text: str | None = None


class RefusalPart(Struct):
    """A part of a message that is a refusal."""

    refusal: str | None = None


class CitedPart(TextPart):
    """The end of a text in a stream."""

    annotations: Raw = Raw(b"null")


class Part(TextPart):
    """A part of a message."""

    type: str | None = None
    refusal: str | None = None
    annotations: list[Annotation] | None = None
    logprobs: list[Token] | None = None


class Item(Struct):
    """What each item has, and each part of one."""

    type: str | None = None


class ItemMembers(Struct):
    """The members that say what kind of item it is, where its type does not."""

    role: Raw = Raw(b"null")
    content: Raw = Raw(b"null")
    name: Raw = Raw(b"null")
    arguments: Raw = Raw(b"null")
    summary: Raw = Raw(b"null")


class ImageCall(Struct):
    """An item of the type `image_generation_call`."""

    result: str | None = None
    output_format: str | None = None


class ItemId(Struct):
    """What an item has that is called by its id."""

    id: str | None = None


class Arguments(Struct):
    """The end of a call in a stream."""

    arguments: str | None = None


class Message(Struct):
    """An item of the type `message`."""

    content: list[Part] | None = None


class Call(Struct):
    """An item of the type `function_call`."""

    call_id: str | None = None
    name: str | None = None


class WholeCall(Call):
    """The same, complete."""

    arguments: str | None = None


class Thoughts(Struct):
    """An item of the type `reasoning`."""

    id: str | None = None
    summary: list[TextPart] | None = None
    content: list[TextPart] | None = None
    encrypted_content: str | None = None


class Head(Struct):
    """The beginning of a response."""

    id: str | None = None
    model: str | None = None
    created_at: float | None = None


class IncompleteDetails(Struct):
    """Why a response is not complete."""

    reason: str | None = None


class Response(Struct):
    """A response at its end."""

    status: str | None = None
    error: Raw = Raw(b"null")
    incomplete_details: Raw = Raw(b"null")
    output: list[Raw] | None = None


class StreamEvent(Struct):
    """What each event of a stream has; `output_index` those of an item."""

    type: str | None = None
    output_index: int | None = None


class TextDelta(Struct):
    """More of a text, of arguments or of thoughts."""

    delta: str | None = None
    logprobs: list[Token] | None = None


class SummaryEvent(Struct):
    """A part of a summary begins."""

    summary_index: int | None = None


class ItemEvent(Struct):
    """An item begins, or is complete."""

    item: Raw = Raw(b"null")


class PartEvent(Struct):
    """A part of an item begins, or is complete."""

    part: Raw = Raw(b"null")


class AnnotationEvent(Struct):
    """A mark on the open text."""

    annotation: Annotation | None = None


class HeadEvent(Struct):
    """A response begins."""

    response: Head | None = None


class EndEvent(Struct):
    """A response ends."""

    response: Response | None = None


ANNOTATIONS = Decoder(list[Annotation] | None)
TEXT_PART = Decoder(CitedPart | None)
REFUSAL_PART = Decoder(RefusalPart | None)
ITEM = Decoder(Item)
ITEM_MEMBERS = Decoder(ItemMembers)
IMAGE_CALL = Decoder(ImageCall)
ITEM_OR_NONE = Decoder(Item | None)
ITEM_ID = Decoder(ItemId)
ARGUMENTS = Decoder(Arguments)
MESSAGE = Decoder(Message)
CALL = Decoder(Call)
WHOLE_CALL = Decoder(WholeCall)
THOUGHTS = Decoder(Thoughts)
HEAD = Decoder(Head)
INCOMPLETE_DETAILS = Decoder(IncompleteDetails | None)
RESPONSE = Decoder(Response)
STREAM_EVENT = Decoder(StreamEvent)
TEXT_DELTA = Decoder(TextDelta)
SUMMARY_EVENT = Decoder(SummaryEvent)
ITEM_EVENT = Decoder(ItemEvent)
PART_EVENT = Decoder(PartEvent)
ANNOTATION_EVENT = Decoder(AnnotationEvent)
HEAD_EVENT = Decoder(HeadEvent)
END_EVENT = Decoder(EndEvent)
