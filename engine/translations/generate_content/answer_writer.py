"""Neutral answers -> generate content, in one piece, and the parts that a stream has as well."""

from __future__ import annotations

import msgspec

from engine.translations.generate_content.answer_fields import (
    write_finish,
    write_logprobs,
    write_usage,
)
from engine.translations.generate_content.citations import GroundingWriter
from engine.translations.generate_content.fields import NAME, THOUGHT, write_signature
from engine.translations.neutral.answer import Answer, Candidate, complete_blocks
from engine.translations.neutral.calls import arguments_object
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Inline,
    Json,
    Link,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.members import OBJECT
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.signatures import NO_SIGNATURE


def write_answer(answer: Answer, request: ChatRequest) -> bytes:
    """An answer in one piece."""
    candidates = [
        _candidate(index, candidate, request) for index, candidate in enumerate(answer.candidates)
    ]
    head = {"modelVersion": answer.model or request.model, "responseId": answer.id or request.id}
    return msgspec.json.encode({"candidates": candidates, **write_usage(answer.usage), **head})


def _candidate(index: int, candidate: Candidate, request: ChatRequest) -> Json:
    has_refusal = any(isinstance(block, Refusal) for block in candidate.blocks)
    return {
        "content": {"parts": _parts(complete_blocks(candidate), request), "role": "model"},
        **write_finish(candidate.finish, has_refusal=has_refusal),
        "index": index,
        **_grounding(candidate.blocks),
        **write_logprobs(candidate.logprobs),
    }


def _parts(blocks: list[Block], request: ChatRequest) -> list[Json]:
    parts: list[Json] = []
    signature: Signature | None = None
    unsigned: Signature | None = NO_SIGNATURE  # newer models want one of the first call
    for block in blocks:
        if not isinstance(block, Reasoning):
            if isinstance(block, ToolCall):
                signature, unsigned = signature or unsigned, None
            if (part := write_part(block)) is not None:
                parts.append(with_signature(part, signature))
                signature = None
            continue
        if thought := thought_part(block.text, request):
            parts.append(thought)
        if block.signature is not None and signs_thought(block.signature):
            parts.append(thought_signature(block.signature))
        elif block.signature is not None:
            if signature is not None:
                parts.append(with_signature({"text": ""}, signature))
            signature = block.signature
    if signature is not None:
        parts.append(with_signature({"text": ""}, signature))
    return parts


def _grounding(blocks: list[Block]) -> Json:
    texts = [block for block in blocks if isinstance(block, Text)]
    if not any(block.citations for block in texts):  # nearly every answer
        return {}
    grounding = GroundingWriter()
    for block in texts:
        grounding.offsets.add(block.text)
        for citation in block.citations:
            grounding.cite(citation)
        grounding.close()
    return grounding.members()


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
