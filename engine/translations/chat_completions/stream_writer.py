"""Neutral events -> the chunks of a chat completions stream."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.chat_completions.answer_fields import (
    PREFIX,
    USAGE,
    finish_reason,
    write_detail,
)
from engine.translations.chat_completions.answer_writer import annotation, image, write_call
from engine.translations.neutral.content import Block, Media, Reasoning, Refusal, Text, ToolCall
from engine.translations.neutral.events import (
    Cite,
    Close,
    Delta,
    End,
    Event,
    Open,
    Sign,
    Start,
    Tokens,
)
from engine.translations.neutral.names import answer_id
from engine.translations.neutral.request import ChatRequest
from engine.translations.openai_answer_fields import write_logprobs, write_usage

Json = dict[str, Any]


class _Choice:
    """The state of one choice: its open block, and how much it has of each kind."""

    def __init__(self) -> None:
        self.block: Block = Text()
        self.calls = self.reasonings = 0
        self.has_arguments = False
        self.text_length = self.block_length = 0


class Writer:
    """Writes the chunks of one stream."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._choices: dict[int, _Choice] = {}
        self._head: Json = {}
        self._write = {
            Open: self._open,
            Delta: self._delta,
            Sign: self._sign,
            Cite: self._cite,
            Tokens: self._tokens,
            Close: self._close,
        }

    def write(self, event: Event) -> bytes:
        """The chunks of an event; with the End the stream's end marker."""
        if isinstance(event, Start):
            return self._start(event)
        if isinstance(event, End):
            return self._end(event)
        begin, choice = b"", self._choices.get(event.candidate)
        if choice is None:
            choice, begin = self._begin(event.candidate)
        delta = self._write[type(event)](event, choice)  # type: ignore[operator]
        return begin + b"".join(self._chunk(event.candidate, each) for each in delta)

    def _start(self, event: Start) -> bytes:
        request = self._request
        self._head = {
            "id": answer_id(PREFIX, event.id or request.id),
            "object": "chat.completion.chunk",
            "created": event.created or request.time,
            "model": event.model or request.model,
        }
        return self._begin(0)[1]

    def _begin(self, candidate: int) -> tuple[_Choice, bytes]:
        choice = self._choices[candidate] = _Choice()
        return choice, self._chunk(candidate, {"delta": {"role": "assistant", "content": ""}})

    def _open(self, event: Open, choice: _Choice) -> list[Json]:
        block = choice.block = event.block
        choice.has_arguments, choice.block_length = False, 0
        if isinstance(block, ToolCall):
            choice.calls += 1
            return [_delta("tool_calls", [{"index": choice.calls - 1, **write_call(block)}])]
        if isinstance(block, Reasoning):
            choice.reasonings += 1
        elif isinstance(block, Media):
            return [_delta("images", [image(block)])]
        return []

    def _delta(self, event: Delta, choice: _Choice) -> list[Json]:
        text, block = event.text, choice.block
        if isinstance(block, ToolCall):
            choice.has_arguments = True
            function = {"arguments": text}
            return [_delta("tool_calls", [{"index": choice.calls - 1, "function": function}])]
        if isinstance(block, Reasoning):
            details = [write_detail(choice.reasonings - 1, text, None)]
            return [{"delta": {"reasoning_content": text, "reasoning_details": details}}]
        if isinstance(block, Refusal):
            return [_delta("refusal", text)]
        choice.block_length += len(text)
        return [_delta("content", text)]

    def _sign(self, event: Sign, choice: _Choice) -> list[Json]:
        entry = write_detail(choice.reasonings - 1, "", event.signature)
        return [_delta("reasoning_details", [entry])]

    def _cite(self, event: Cite, choice: _Choice) -> list[Json]:
        if not event.citation.url:
            return []
        entry = annotation(event.citation, choice.text_length, choice.block_length)
        return [_delta("annotations", [entry])]

    def _tokens(self, event: Tokens, choice: _Choice) -> list[Json]:
        tokens = {"content": write_logprobs(event.logprobs), "refusal": None}
        return [{"delta": {}, "logprobs": tokens}]

    def _close(self, event: Close, choice: _Choice) -> list[Json]:
        choice.text_length += choice.block_length
        choice.block_length = 0
        if isinstance(choice.block, ToolCall) and not choice.has_arguments:
            function = {"arguments": "{}"}
            return [_delta("tool_calls", [{"index": choice.calls - 1, "function": function}])]
        return []

    def _end(self, event: End) -> bytes:
        output = b""
        for candidate, finish in sorted(event.finishes.items()):
            refusal = {"refusal": finish.explanation} if finish.explanation else {}
            choice = {"delta": refusal, "finish_reason": finish_reason(finish)}
            output += self._chunk(candidate, choice)
        if event.usage is not None and self._request.stream_usage:
            usage = {**self._head, "choices": [], "usage": write_usage(event.usage, USAGE)}
            output += _event(usage)
        return output + b"data: [DONE]\n\n"

    def _chunk(self, candidate: int, values: Json) -> bytes:
        choice = {"index": candidate, "logprobs": None, "finish_reason": None, **values}
        usage = {"usage": None} if self._request.stream_usage else {}
        return _event({**self._head, "choices": [choice], **usage})


def _delta(name: str, value: Any) -> Json:
    return {"delta": {name: value}}


def _event(document: Json) -> bytes:
    return b"data: " + msgspec.json.encode(document) + b"\n\n"
