"""Answers of Bedrock's Converse and ConverseStream, as the vendor writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from engine.translations.neutral.answer import Answer
from engine.translations.neutral.content import (
    Block,
    Citation,
    Inline,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    Cite,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
)
from engine.values.usage import Usage

Json = dict[str, Any]

_REASONS = {
    "end": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "stop_sequence": "stop_sequence",
    "filter": "content_filtered",
    "pause": "end_turn",
}


def as_json(answer: Answer) -> Json:
    """An answer in one piece: the first candidate, the only one that the vendor gives."""
    candidate = answer.candidates[0]
    return {
        "output": {
            "message": {"role": "assistant", "content": [_block(o) for o in candidate.blocks]}
        },
        "stopReason": _reason(candidate.finish),
        **_figures(answer.usage),
    }


def stream(events: Sequence[Event]) -> Iterator[tuple[str, Json]]:
    """The names and payloads of a stream's events."""
    index, block = -1, None
    for event in events:
        if not isinstance(event, Start | End) and event.candidate:
            continue
        if isinstance(event, Start):
            yield "messageStart", {"role": "assistant", "p": "abc"}
        elif isinstance(event, End):
            yield "messageStop", {"stopReason": _reason(event.finishes[0])}
            yield "metadata", _figures(event.usage)
            return
        elif isinstance(event, Open):
            index, block = index + 1, event.block
            if isinstance(block, ToolCall):
                start = {"toolUse": {"toolUseId": block.id, "name": block.name}}
                yield "contentBlockStart", {"start": start, "contentBlockIndex": index}
        elif isinstance(event, Close):
            yield "contentBlockStop", {"contentBlockIndex": index}
        elif block is not None and (delta := _delta(event, block)):
            yield "contentBlockDelta", {"delta": delta, "contentBlockIndex": index, "p": "abcd"}


def server_sent(events: Sequence[Event]) -> bytes:
    """A stream as `engine.relay.amazon_events` gives it on."""
    texts = [json.dumps({name: payload}) for name, payload in stream(events)]
    return b"".join(f"data: {text}\n\n".encode() for text in texts)


def _reason(finish: Finish) -> str:
    return _REASONS[finish.stop]


def _figures(usage: Usage | None) -> Json:
    usage = usage or Usage()
    counts = {
        "inputTokens": max(usage.input - usage.cached - usage.cache_write, 0),
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
        "cacheReadInputTokens": usage.cached,
        "cacheWriteInputTokens": usage.cache_write,
    }
    return {"usage": counts, "metrics": {"latencyMs": 551}}


def _block(block: Block) -> Json:
    if isinstance(block, Text) and block.citations:
        citations = [_citation(each) for each in block.citations]
        return {"citationsContent": {"content": [{"text": block.text}], "citations": citations}}
    if isinstance(block, Text | Refusal):
        return {"text": block.text}
    if isinstance(block, Reasoning):
        signature = {} if block.signature is None else {"signature": block.signature.value}
        return {"reasoningContent": {"reasoningText": {"text": block.text, **signature}}}
    if isinstance(block, Media):
        assert isinstance(block.source, Inline)
        return {"image": {"format": "png", "source": {"bytes": block.source.data}}}
    assert isinstance(block, ToolCall)
    arguments = json.loads(block.arguments or "{}")
    return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": arguments}}


def _citation(citation: Citation) -> Json:
    words = [{"text": citation.cited}] if citation.cited else []
    web = {"web": {"url": citation.url}}
    return {"title": citation.title, "sourceContent": words, "location": web}


def _delta(event: Event, block: Block) -> Json:
    if isinstance(event, Sign):
        return {"reasoningContent": {"signature": event.signature.value}}
    if isinstance(event, Cite):
        return {"citation": _citation(event.citation)}
    if not isinstance(event, Delta):
        return {}
    if isinstance(block, ToolCall):
        return {"toolUse": {"input": event.text}}
    return (
        {"reasoningContent": {"text": event.text}}
        if isinstance(block, Reasoning)
        else {"text": event.text}
    )
