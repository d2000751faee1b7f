"""Neutral answers -> messages, in one piece, and the parts that a stream has as well."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.messages.answer_fields import (
    NAME,
    PREFIX,
    thinks_on_budget,
    write_citation,
    write_finish,
    write_reasoning,
    write_usage,
)
from engine.translations.neutral.answer import Answer, complete_blocks
from engine.translations.neutral.calls import answer_id, arguments_object, call_id
from engine.translations.neutral.content import (
    Block,
    Foreign,
    Json,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import BrokenAnswer
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.signatures import NO_SIGNATURE

_ORDERED = frozenset({Reasoning, ToolCall})
"""Blocks with a place of their own among the others."""


def write_answer(answer: Answer, request: ChatRequest) -> bytes:
    """A message. Its model has the caller's name: clients compare names, and send thoughts back to
    the model alone that they came from."""
    candidate = answer.candidates[0]
    blocks = candidate.blocks
    finish = write_finish(
        candidate.finish,
        request.stop,
        has_refusal=Refusal in map(type, blocks),
    )
    message: Json = {
        "id": answer_id(PREFIX, answer.id or request.id),
        "type": "message",
        "role": "assistant",
        "model": request.model or answer.model,
        "content": _content(complete_blocks(candidate), request),
        **finish,
        "usage": write_usage(answer.usage),
    }
    return msgspec.json.encode(message)


def _content(blocks: list[Block], request: ChatRequest) -> list[Any]:
    """The blocks as they are written, with a mark before the first call of an answer without the
    thoughts that were asked for."""
    if _ORDERED.isdisjoint(map(type, blocks)):
        return [part for block in blocks if (part := _block(block, hide=False)) is not None]
    content: list[Any] = []
    held: list[Any] = []
    needs_mark, holds = thinks_on_budget(request), holds_thoughts(request)
    for block in blocks:
        part = _block(block, hide=hides_thoughts(request))
        if part is None:
            continue
        if holds and isinstance(block, Reasoning):
            held.append(part)
            continue
        if isinstance(block, ToolCall):
            content += held
            held = []
        needs_mark = needs_mark and not isinstance(block, Reasoning)
        if needs_mark and isinstance(block, ToolCall):
            content.append(write_reasoning("", NO_SIGNATURE))
            needs_mark = False
        content.append(part)
    return content


def _block(block: Block, *, hide: bool) -> Any:
    """A block as it is written; None for one that says nothing here. `hide`: the caller does not
    want to see thoughts."""
    if isinstance(block, Text | Refusal):
        if not block.text:
            return None
        text: Json = {"type": "text", "text": block.text}
        if isinstance(block, Text) and block.citations:
            text["citations"] = [write_citation(each) for each in block.citations if each.url]
        return text
    if isinstance(block, Reasoning):
        thoughts = "" if hide else block.text
        if not thoughts and block.signature is None:
            return None
        return write_reasoning(thoughts, block.signature or NO_SIGNATURE)
    if isinstance(block, ToolCall):
        return {**open_call(block), "input": arguments_object(block)}
    if isinstance(block, Foreign) and block.language == NAME:
        return block.raw
    refuse_media(block)
    return None


def hides_thoughts(request: ChatRequest) -> bool:
    """Whether the caller wants of thoughts only their signatures (`display: omitted`)."""
    return request.thinking is not None and request.thinking.visible is False


def holds_thoughts(request: ChatRequest) -> bool:
    """Whether the caller did not ask for thoughts. It gets them only before a tool call, to send
    them back with the result: programs take the first block of an answer for its text."""
    thinking = request.thinking
    return thinking is None or thinking.off or not (thinking.adaptive or thinking.budget)


def open_call(block: ToolCall) -> Json:
    """A tool call before its arguments."""
    return {"type": "tool_use", "id": call_id(block.id), "name": block.name, "input": {}}


def refuse_media(block: Block) -> None:
    """Raise BrokenAnswer for content that a message has no block for."""
    if isinstance(block, Media):
        kind = f"an {block.kind}" if block.kind[0] in "aeiou" else f"a {block.kind}"
        raise BrokenAnswer(f"the upstream's answer has {kind}, which this format cannot carry")
