"""Neutral answers -> generate content, in one piece."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.generate_content.answer_fields import (
    write_finish,
    write_logprobs,
    write_usage,
)
from engine.translations.generate_content.grounding_writer import GroundingWriter
from engine.translations.generate_content.parts import (
    signs_thought,
    thought_part,
    thought_signature,
    with_signature,
    write_part,
)
from engine.translations.neutral.answer import Answer, Candidate, complete_blocks
from engine.translations.neutral.content import Block, Reasoning, Refusal, Signature, Text, ToolCall
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.signatures import NO_SIGNATURE

Json = dict[str, Any]


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
