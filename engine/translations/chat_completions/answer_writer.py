"""Neutral answers -> chat completions, in a stream and in one piece."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.content import (
    Block,
    Citation,
    Inline,
    Link,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.data_url import data_url
from engine.translations.neutral.events import Finish, TokenLogprob, Usage
from engine.translations.neutral.names import answer_id
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.signatures import seal

NAME = "chat_completions"
PREFIX = "chatcmpl-"

Json = dict[str, Any]

_REASONS = {
    "end": "stop",
    "stop_sequence": "stop",
    "pause": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "filter": "content_filter",
}


def write_answer(answer: Answer, request: ChatRequest) -> bytes:
    """An answer in one piece."""
    document: Json = {
        "id": answer_id(PREFIX, answer.id or request.id),
        "object": "chat.completion",
        "created": answer.created or request.time,
        "model": answer.model or request.model,
        "choices": [_choice(index, candidate) for index, candidate in enumerate(answer.candidates)],
    }
    if answer.usage is not None:
        document["usage"] = write_usage(answer.usage)
    return msgspec.json.encode(document)


def _choice(index: int, candidate: Candidate) -> Json:
    logprobs = None
    if candidate.logprobs:
        logprobs = {"content": write_tokens(candidate.logprobs), "refusal": None}
    return {
        "index": index,
        "message": _message(candidate),
        "logprobs": logprobs,
        "finish_reason": finish_reason(candidate.finish),
    }


def _message(candidate: Candidate) -> Json:
    blocks = candidate.blocks
    texts = [block.text for block in blocks if isinstance(block, Text)]
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    refusal = "".join(block.text for block in blocks if isinstance(block, Refusal))
    message: Json = {
        "role": "assistant",
        "content": "".join(texts) if texts or not (calls or refusal) else None,
        "refusal": (refusal or candidate.finish.explanation) or None,
    }
    if annotations := _annotations(blocks):
        message["annotations"] = annotations
    reasoning = [block for block in blocks if isinstance(block, Reasoning)]
    if reasoning:
        message["reasoning_content"] = "".join(block.text for block in reasoning)
        message["reasoning_details"] = [
            {**detail(index, block.text), **sealed(block.signature)}
            for index, block in enumerate(reasoning)
        ]
    if images := [image(block) for block in blocks if isinstance(block, Media)]:
        message["images"] = images
    if calls:
        message["tool_calls"] = [
            {**write_call(block), "function": _function(block)} for block in calls
        ]
    return message


def _function(block: ToolCall) -> Json:
    return {"name": block.name, "arguments": block.arguments or "{}"}


def write_call(block: ToolCall) -> Json:
    """The beginning of a tool call."""
    function = {"name": block.name, "arguments": ""}
    return {"id": block.id, "type": "function", "function": function}


def detail(index: int, text: str) -> Json:
    """An entry of `reasoning_details`, as OpenRouter writes them."""
    return {"type": "reasoning.text", "index": index, "text": text}


def sealed(signature: Signature | None) -> Json:
    """The signature of an entry of `reasoning_details`."""
    return {} if signature is None else {"signature": seal(signature, NAME)}


def image(block: Media) -> Json:
    """An image of an answer, as OpenRouter writes them."""
    source = block.source
    url = data_url(source) if isinstance(source, Inline) else ""
    url = source.url if isinstance(source, Link) else url
    return {"type": "image_url", "image_url": {"url": url}}


def _annotations(blocks: list[Block]) -> list[Json]:
    offset, annotations = 0, []
    for block in blocks:
        if isinstance(block, Text):
            annotations += [
                annotation(each, offset, len(block.text)) for each in block.citations if each.url
            ]
            offset += len(block.text)
    return annotations


def annotation(citation: Citation, offset: int, length: int) -> Json:
    """A citation of a text that begins at `offset` of the content and has `length` characters."""
    start = 0 if citation.start is None else citation.start
    end = length if citation.end is None else citation.end
    cited = {
        "start_index": offset + start,
        "end_index": offset + end,
        "url": citation.url,
        "title": citation.title,
    }
    return {"type": "url_citation", "url_citation": cited}


def finish_reason(finish: Finish) -> str:
    """`finish_reason`."""
    return _REASONS[finish.stop]


def write_tokens(tokens: list[TokenLogprob]) -> list[Json]:
    """The log probabilities of tokens."""
    return [
        {
            **_token(each.token, each.logprob),
            "top_logprobs": [_token(token, logprob) for token, logprob in each.top],
        }
        for each in tokens
    ]


def _token(token: str, logprob: float) -> Json:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def write_usage(usage: Usage) -> Json:
    """The usage of an answer."""
    prompt: Json = {"cached_tokens": usage.cached}
    if usage.cache_write:
        prompt["cache_write_tokens"] = usage.cache_write
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": prompt,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
