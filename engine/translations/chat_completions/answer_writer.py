"""Neutral answers -> chat completions, in a stream and in one piece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from engine.translations.chat_completions.answer_fields import (
    PREFIX,
    write_counts,
    write_detail,
    write_finish,
)
from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.calls import answer_id
from engine.translations.neutral.content import (
    Block,
    Citation,
    Inline,
    Json,
    Link,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import BrokenAnswer
from engine.translations.neutral.request import ChatRequest
from engine.translations.openai_answer_fields import write_citation, write_logprobs
from engine.translations.openai_request_fields import write_url


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
        document["usage"] = write_counts(answer.usage)
    return msgspec.json.encode(document)


def _choice(index: int, candidate: Candidate) -> Json:
    logprobs = None
    if candidate.logprobs:
        logprobs = {"content": write_logprobs(candidate.logprobs), "refusal": None}
    return {
        "index": index,
        "message": _message(candidate),
        "logprobs": logprobs,
        **write_finish(candidate.finish),
    }


def _message(candidate: Candidate) -> Json:
    blocks: dict[type[Block], list[Any]] = {}
    for block in candidate.blocks:
        blocks.setdefault(type(block), []).append(block)
    texts, calls = blocks.get(Text, ()), blocks.get(ToolCall)
    refusal = "".join([block.text for block in blocks.get(Refusal, ())])
    text = "".join([block.text for block in texts])
    message: Json = {
        "role": "assistant",
        "content": text if texts or not (calls or refusal) else None,
        "refusal": (refusal or candidate.finish.explanation) or None,
    }
    if annotations := _annotations(texts):
        message["annotations"] = annotations
    if reasoning := blocks.get(Reasoning):
        message["reasoning_content"] = "".join(block.text for block in reasoning)
        message["reasoning_details"] = [
            write_detail(index, block.text, block.signature)
            for index, block in enumerate(reasoning)
        ]
    if media := blocks.get(Media):
        message["images"] = [image(block) for block in media]
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


def image(block: Media) -> Json:
    """An image of an answer, as OpenRouter writes them. Raises BrokenAnswer for other content."""
    source = block.source
    if block.kind != "image" or not isinstance(source, Inline | Link):
        reason = f"{block.kind} content, which this format cannot carry"
        raise BrokenAnswer(f"the upstream's answer has {reason}")
    return {"type": "image_url", "image_url": {"url": write_url(source)}}


def _annotations(texts: Iterable[Text]) -> list[Json]:
    offset, annotations = 0, []
    for block in texts:
        length = len(block.text)
        annotations += [annotation(each, offset, length) for each in block.citations if each.url]
        offset += length
    return annotations


def annotation(citation: Citation, offset: int, length: int) -> Json:
    """A citation of a text that begins at `offset` of the content and has `length` characters."""
    cited = write_citation(citation, offset, length)
    return {"type": "url_citation", "url_citation": cited}
