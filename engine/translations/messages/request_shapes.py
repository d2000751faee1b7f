"""The shapes of messages requests: the members that are read."""

from __future__ import annotations

from typing import Literal

from msgspec import Raw

from engine.translations.neutral.objects import JsonObject, UnknownObject


class TextBlock(JsonObject, tag="text"):
    text: str
    citations: Raw = Raw()


class SourceObject(JsonObject):
    """Where an image or a document is. Other kinds and members are this vendor's own: the block is
    passed on whole."""

    notes = False

    type: Literal["base64", "text", "url", "file"] | None = None
    data: str | None = None
    url: str | None = None
    media_type: str | None = None
    file_id: str | None = None


class ImageBlock(JsonObject, tag="image"):
    source: SourceObject


class DocumentBlock(JsonObject, tag="document"):
    source: SourceObject
    title: str | None = None
    citations: Raw = Raw()


class ThinkingBlock(JsonObject, tag="thinking"):
    thinking: str | None = None
    signature: str | None = None


class RedactedBlock(JsonObject, tag="redacted_thinking"):
    """Encrypted thoughts."""

    data: str | None = None


class CallBlock(JsonObject, tag="tool_use"):
    id: str | None = None
    name: str | None = None
    input: Raw = Raw()


class ResultBlock(JsonObject, tag="tool_result"):
    """What a tool returned. Blocks of a turn have no place in it: they are passed on as they came,
    so that no depth of results inside results has to be followed."""

    tool_use_id: str | None = None
    content: str | list[TextBlock | ImageBlock | DocumentBlock | UnknownObject] | None = None
    is_error: bool | None = None


ContentBlock = (
    TextBlock
    | ImageBlock
    | DocumentBlock
    | ThinkingBlock
    | RedactedBlock
    | CallBlock
    | ResultBlock
    | UnknownObject
)
Content = str | list[ContentBlock] | None


class MessageObject(JsonObject):
    """A turn."""

    role: str | None = None
    content: Content = None


class ToolObject(JsonObject):
    """A function; its first three members are kept for this vendor, most often without meaning."""

    type: Raw = Raw()
    allowed_callers: Raw = Raw()
    defer_loading: Raw = Raw()
    name: str | None = None
    description: str | None = None
    input_schema: Raw = Raw()
    strict: bool | None = None


class RequestObject(JsonObject):
    """A request. Its reader notes unknown members after those of what it contains."""

    notes = False

    model: str | None = None
    messages: list[MessageObject] | None = None
    system: str | list[TextBlock | UnknownObject] | None = None
    stream: bool | None = None
    max_tokens: int | None = None
    temperature: Raw = Raw()
    top_p: Raw = Raw()
    top_k: Raw = Raw()
    stop_sequences: list[str] | None = None
    tools: list[Raw] | None = None
    tool_choice: Raw = Raw()
    thinking: Raw = Raw()
    output_config: Raw = Raw()
    metadata: Raw = Raw()
