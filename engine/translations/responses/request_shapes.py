"""The shapes of responses requests: the members that are read.

`id`, `status` and some others are marks that the vendor has made on an item; they mean nothing to
another vendor.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from engine.translations.neutral.objects import JsonObject, UnknownObject


class TextPart(JsonObject, tag="text"):
    """A text, of the model's with its sources."""

    text: str | None = None
    annotations: Raw = Raw()
    logprobs: Raw = Raw()


class InputTextPart(TextPart, tag="input_text"):
    """A text of the caller's."""


class OutputTextPart(TextPart, tag="output_text"):
    """A text of the model's."""


class SummaryTextPart(TextPart, tag="summary_text"):
    """A summary of thoughts."""


class RefusalPart(JsonObject, tag="refusal"):
    """The model's words of why it does not answer."""

    refusal: str | None = None


class ImagePart(JsonObject, tag="input_image"):
    """An image: by its URL, or else by the id of a file."""

    image_url: str | None = None
    file_id: str | None = None
    detail: str | None = None


class FilePart(JsonObject, tag="input_file"):
    """A document: by its URL, by its content, or else by the id of a file."""

    file_url: str | None = None
    file_data: str | None = None
    file_id: str | None = None
    filename: str | None = None


class InputAudio(JsonObject):
    """A sound in base64."""

    data: str | None = None
    format: str | None = None


class AudioPart(JsonObject, tag="input_audio"):
    input_audio: InputAudio


Part = (
    InputTextPart
    | OutputTextPart
    | TextPart
    | SummaryTextPart
    | RefusalPart
    | ImagePart
    | FilePart
    | AudioPart
    | UnknownObject
)
Content = str | list[Part] | None


class ItemHead(Struct):
    """What tells the kind of an item."""

    type: str | None = None
    role: Raw = Raw()
    namespace: Raw = Raw()


class ItemObject(JsonObject):
    """What most items have."""

    type: Raw = Raw()
    id: Raw = Raw()
    status: Raw = Raw()


class MessageItem(ItemObject):
    role: str | None = None
    content: Content = None
    phase: Raw = Raw()


class CallItem(ItemObject):
    """A call of a function, or of another tool that the caller runs, which has an `input`."""

    call_id: str | None = None
    namespace: str | None = None
    name: str | None = None
    arguments: str | None = None
    parsed_arguments: Raw = Raw()


class CustomCallItem(CallItem):
    """A call of a tool whose input is a text."""

    input: str | None = None


class ResultItem(ItemObject):
    call_id: str | None = None
    output: Content = None
    name: Raw = Raw()


class SearchCallItem(ItemObject):
    call_id: str | None = None
    arguments: Raw = Raw()
    execution: Raw = Raw()


class SearchResultItem(ResultItem):
    """The tools that a search has found."""

    tools: list[Raw] | None = None
    execution: Raw = Raw()


class ThoughtText(Struct):
    """A piece of thoughts."""

    text: str | None = None


class ReasoningItem(JsonObject):
    type: Raw = Raw()
    id: str | None = None
    status: Raw = Raw()
    encrypted_content: str | None = None
    summary: Raw = Raw()
    content: Raw = Raw()


class FunctionObject(JsonObject):
    type: Raw = Raw()
    name: str | None = None
    description: str | None = None
    parameters: Raw = Raw()
    strict: bool | None = None


class GroupFunction(FunctionObject):
    """The declaration of a function in a group; loading it later changes no answer."""

    defer_loading: Raw = Raw()


class RequestObject(JsonObject):
    """A request. Its reader notes unknown members after those of what it contains."""

    notes = False

    model: str | None = None
    input: str | list[Raw] | None = None
    instructions: str | None = None
    stream: bool | None = None
    tools: list[Raw] | None = None
    tool_choice: Raw = Raw()
    parallel_tool_calls: bool | None = None
    text: Raw = Raw()
    max_output_tokens: int | None = None
    temperature: Raw = Raw()
    top_p: Raw = Raw()
    top_logprobs: int | None = None
    user: str | None = None
    reasoning: Raw = Raw()
    include: Raw = Raw()
    store: Raw = Raw()
    background: Raw = Raw()
    truncation: Raw = Raw()
    stream_options: Raw = Raw()
