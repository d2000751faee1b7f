"""Blocks of answers -> parts."""

from __future__ import annotations

from typing import Any

from engine.translations.generate_content.fields import NAME, THOUGHT, write_signature
from engine.translations.neutral.arguments import arguments_object
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Link,
    Media,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.members import OBJECT
from engine.translations.neutral.request import ChatRequest

Json = dict[str, Any]


def write_part(block: Block) -> Json | None:
    """The part of a complete block; None for one without content, and for one that only another
    vendor can say. Raises WrongType for a call whose arguments are no object."""
    if isinstance(block, Text | Refusal):
        return {"text": block.text} if block.text else None
    if isinstance(block, ToolCall):
        arguments = arguments_object(block)
        return {"functionCall": {"id": block.id, "name": block.name, "args": arguments}}
    if isinstance(block, Media):
        return _media(block)
    if isinstance(block, Foreign) and block.language == NAME:
        return OBJECT.decode(block.raw)
    return None


def _media(block: Media) -> Json | None:
    source = block.source
    if isinstance(source, Inline):
        return {"inlineData": {"mimeType": source.media_type, "data": source.data}}
    if isinstance(source, Link):
        media_type = {"mimeType": source.media_type} if source.media_type else {}
        return {"fileData": {**media_type, "fileUri": source.url}}
    return None


def thought_part(text: str, request: ChatRequest) -> Json | None:
    """Thoughts, for callers that want to see them."""
    visible = request.thinking is not None and request.thinking.visible
    return {"text": text, "thought": True} if text and visible else None


def signs_thought(signature: Signature) -> bool:
    """Whether a signature is that of the thoughts themselves, not of the block after them."""
    return signature.language == NAME and signature.value.startswith(THOUGHT)


def thought_signature(signature: Signature) -> Json:
    """The part that only carries the signature of the thoughts before it."""
    return {"text": "", "thought": True, "thoughtSignature": write_signature(signature)}


def with_signature(part: Json, signature: Signature | None) -> Json:
    """A part with the signature that stands before it."""
    if signature is None:
        return part
    return {**part, "thoughtSignature": write_signature(signature)}
