"""Neutral answers -> responses: the objects that both an answer in one piece and a stream have."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.neutral.answer import Answer
from engine.translations.neutral.content import (
    Block,
    Citation,
    Foreign,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import Finish, TokenLogprob, Usage
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames, answer_id
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.signatures import seal
from engine.translations.responses.item_reader import NAME
from engine.translations.responses.request_writer import write_choice, write_format, write_tools
from engine.values.wildcard import Patterns

Json = dict[str, Any]

_REASONS = {"length": "max_output_tokens", "filter": "content_filter"}


def write_answer(answer: Answer, request: ChatRequest) -> bytes:
    """An answer in one piece; of several candidates the first."""
    candidate = answer.candidates[0]
    identity = answer_id("resp_", answer.id or request.id)
    created = answer.created or request.time
    head = response_head(identity, created, answer.model or request.model, request)
    items = Items(identity)
    output: list[Any] = []
    for block in candidate.blocks:
        items.add(block, output)
    items.finish(output)
    if candidate.logprobs:
        _add_tokens(output, candidate.logprobs)
    return msgspec.json.encode(ended(head, candidate.finish, output, answer.usage))


class Items:
    """The items of an answer: neighbouring texts are parts of one message."""

    def __init__(self, identity: str) -> None:
        self._suffix = identity.removeprefix("resp_")
        self._parts: list[Json] = []
        self.count = 0

    def add(self, block: Block, output: list[Any]) -> None:
        """Add a complete block."""
        if isinstance(block, Text | Refusal):
            self._parts.append(part_of(block))
            return
        self.finish(output)
        item = item_of(block, self.item_id(block))
        if item is not None:
            self.count += 1
            output.append(item)

    def finish(self, output: list[Any]) -> None:
        """Add the message of the parts up to now, if there are any."""
        if self._parts:
            item = message_of(self.item_id(Text()), self._parts)
            self._parts = []
            self.count += 1
            output.append(item)

    def item_id(self, block: Block) -> str:
        """The id of the next item."""
        prefix = "fc" if isinstance(block, ToolCall) else "msg"
        prefix = "rs" if isinstance(block, Reasoning) else prefix
        return f"{prefix}_{self._suffix}_{self.count}"


def part_of(block: Block) -> Json:
    """A part of a message."""
    if isinstance(block, Refusal):
        return {"type": "refusal", "refusal": block.text}
    assert isinstance(block, Text)
    annotations = [annotation(each, len(block.text)) for each in block.citations if each.url]
    return {"type": "output_text", "text": block.text, "annotations": annotations, "logprobs": []}


def annotation(citation: Citation, length: int) -> Json:
    """The annotation of a text of so many characters."""
    return {
        "type": "url_citation",
        "start_index": 0 if citation.start is None else citation.start,
        "end_index": length if citation.end is None else citation.end,
        "url": citation.url,
        "title": citation.title,
    }


def message_of(item_id: str, parts: list[Json], status: str = "completed") -> Json:
    """A message of the assistant's."""
    return {
        "id": item_id,
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": parts,
    }


def item_of(block: Block, item_id: str, status: str = "completed") -> Any:
    """The item of a block that is no part of a message; None for one that cannot be said."""
    if isinstance(block, ToolCall):
        arguments = block.arguments or ("{}" if status == "completed" else "")
        return {
            "id": item_id,
            "type": "function_call",
            "status": status,
            "arguments": arguments,
            "call_id": block.id,
            "name": block.name,
        }
    if isinstance(block, Reasoning):
        summary = [{"type": "summary_text", "text": block.text}] if block.text else []
        item: Json = {"id": item_id, "type": "reasoning", "summary": summary}
        if block.signature is not None:
            item["encrypted_content"] = seal(block.signature, NAME)
        return item
    return block.raw if isinstance(block, Foreign) and block.language == NAME else None


def response_head(identity: str, created: int, model: str, request: ChatRequest) -> Json:
    """The members of a response that repeat the request."""
    names, losses = ToolNames(128), Losses(Patterns(()))
    choice, thinking = request.tool_choice, request.thinking
    return {
        "id": identity,
        "object": "response",
        "created_at": created,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": request.system[0].text if len(request.system) == 1 else None,
        "max_output_tokens": request.max_tokens,
        "model": model,
        "output": [],
        "parallel_tool_calls": request.parallel_calls is not False,
        "previous_response_id": None,
        "reasoning": {"effort": (thinking.effort or None) if thinking else None, "summary": None},
        "store": False,
        "temperature": request.temperature,
        "text": {"format": write_format(request) or {"type": "text"}},
        "tool_choice": "auto" if choice is None else write_choice(choice, names),
        "tools": write_tools(request, names, losses),
        "top_p": request.top_p,
        "truncation": "disabled",
        "usage": None,
        "user": request.user or None,
        "metadata": {},
    }


def ended(head: Json, finish: Finish, output: list[Any], usage: Usage | None) -> Json:
    """The response at its end."""
    reason = _REASONS.get(finish.stop)
    return {
        **head,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": output,
        "usage": None if usage is None else write_usage(usage),
    }


def write_usage(usage: Usage) -> Json:
    """The usage of an answer."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cached,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


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


def _add_tokens(output: list[Any], tokens: list[TokenLogprob]) -> None:
    """Put the log probabilities of the answer into its first text."""
    for item in output:
        for part in item.get("content", ()) if isinstance(item, dict) else ():
            if part["type"] == "output_text":
                part["logprobs"] = write_tokens(tokens)
                return
