"""Answers of models that call several tools at once, in each vendor's format, whole and as streams,
with thoughts and the signatures that their vendors want back.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

Json = dict[str, Any]
Call = tuple[str, Json]

_NUMBERS = count(1)


@dataclass(frozen=True)
class Answer:
    """An answer with a text, or else calls of tools. `number` makes its ids unique."""

    text: str
    calls: Sequence[Call]
    usage: int
    number: int = field(default_factory=lambda: next(_NUMBERS))

    def whole(self) -> Json:
        raise NotImplementedError

    def events(self) -> Iterator[Json]:
        raise NotImplementedError

    def stream(self) -> Iterator[bytes]:
        """The server-sent events, named by their `type` if they have one."""
        for event in self.events():
            name = f"event: {event['type']}\n" if "type" in event else ""
            yield f"{name}data: {json.dumps(event)}\n\n".encode()

    def halves(self, value: Json) -> tuple[str, str]:
        text = json.dumps(value)
        return text[: len(text) // 2], text[len(text) // 2 :]


class _ChatCompletions(Answer):
    def _calls(self) -> list[Json]:
        return [
            {
                "index": index,
                "id": f"call_{self.number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for index, (name, arguments) in enumerate(self.calls)
        ]

    def _envelope(self, kind: str, choices: list[Json], **more: Any) -> Json:
        return {
            "id": f"chatcmpl-{self.number}",
            "object": kind,
            "created": 1700000000,
            "model": "gpt-4o-2024-08-06",
            "choices": choices,
            **more,
        }

    def _counts(self) -> Json:
        counts = {"prompt_tokens": self.usage, "completion_tokens": 5}
        return counts | {"total_tokens": self.usage + 5}

    def whole(self) -> Json:
        message: Json = {"role": "assistant", "content": self.text, "refusal": None}
        if self.calls:
            calls = [{k: v for k, v in call.items() if k != "index"} for call in self._calls()]
            message |= {"content": None, "tool_calls": calls}
        reason = "tool_calls" if self.calls else "stop"
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
        return self._envelope("chat.completion", [choice], usage=self._counts())

    def events(self) -> Iterator[Json]:
        def chunk(delta: Json, reason: str | None = None) -> Json:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            return self._envelope("chat.completion.chunk", [choice], usage=None)

        yield chunk({"role": "assistant", "content": ""})
        for call in self._calls():
            function = call["function"]
            begin, end = self.halves(json.loads(function["arguments"]))
            yield chunk({"tool_calls": [{**call, "function": {**function, "arguments": ""}}]})
            for piece in (begin, end):
                delta = {"index": call["index"], "function": {"arguments": piece}}
                yield chunk({"tool_calls": [delta]})
        if not self.calls:
            yield from (chunk({"content": word}) for word in self.text.partition(" ") if word)
        yield chunk({}, "tool_calls" if self.calls else "stop")
        yield self._envelope("chat.completion.chunk", [], usage=self._counts())

    def stream(self) -> Iterator[bytes]:
        yield from super().stream()
        yield b"data: [DONE]\n\n"


class _Messages(Answer):
    def _content(self) -> list[Json]:
        signature = f"EqQBCkYIBxg{self.number:04}"
        thinking = {"type": "thinking", "thinking": "A thought.", "signature": signature}
        if not self.calls:
            return [{"type": "text", "text": self.text}]
        return [
            thinking,
            *(
                {
                    "type": "tool_use",
                    "id": f"toolu_{self.number}_{index}",
                    "name": name,
                    "input": arguments,
                }
                for index, (name, arguments) in enumerate(self.calls)
            ),
        ]

    def whole(self) -> Json:
        return {
            "id": f"msg_{self.number}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": self._content(),
            "stop_reason": "tool_use" if self.calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": self.usage, "output_tokens": 5},
        }

    def events(self) -> Iterator[Json]:
        message = self.whole()
        reason = message["stop_reason"]
        yield {
            "type": "message_start",
            "message": {**message, "content": [], "stop_reason": None},
        }
        yield {"type": "ping"}
        for index, block in enumerate(self._content()):
            yield from self._block(index, block)
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        }
        yield {"type": "message_stop"}

    def _block(self, index: int, block: Json) -> Iterator[Json]:
        empty: Json = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}.get(
            block["type"], {"input": {}}
        )
        deltas: list[Json] = []
        if block["type"] == "text":
            deltas = [{"type": "text_delta", "text": w} for w in block["text"].partition(" ") if w]
        elif block["type"] == "thinking":
            deltas = [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        else:
            deltas = [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in self.halves(block["input"])
            ]
        yield {"type": "content_block_start", "index": index, "content_block": block | empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}


class _GenerateContent(Answer):
    def _parts(self) -> list[Json]:
        if not self.calls:
            return [{"text": word} for word in self.text.partition(" ") if word]
        parts: list[Json] = [
            {"functionCall": {"name": name, "args": arguments}} for name, arguments in self.calls
        ]
        unique = base64.b64encode(f"{self.number:06}".encode()).decode()  # the SDK decodes it
        parts[0]["thoughtSignature"] = f"CiQBjz1rX7A0{unique}"
        return parts

    def _with(self, parts: list[Json], **more: Any) -> Json:
        return {
            "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0, **more}],
            "usageMetadata": {
                "promptTokenCount": self.usage,
                "candidatesTokenCount": 5,
                "totalTokenCount": self.usage + 5,
            },
            "modelVersion": "gemini-2.5-pro",
            "responseId": f"r{self.number}",
        }

    def whole(self) -> Json:
        return self._with(self._parts(), finishReason="STOP")

    def events(self) -> Iterator[Json]:
        yield self._with([{"text": "A thought.", "thought": True}])
        *parts, last = self._parts()
        for part in parts:
            yield self._with([part])
        yield self._with([last], finishReason="STOP")


class _Responses(Answer):
    def _output(self) -> list[Json]:
        reasoning = {
            "id": f"rs_{self.number}",
            "type": "reasoning",
            "summary": [],
            "encrypted_content": f"gAAAAAB{self.number:04}",
        }
        if not self.calls:
            text = {"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}
            message = {
                "id": f"msg_{self.number}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
            return [reasoning, message]
        return [
            reasoning,
            *(
                {
                    "id": f"fc_{self.number}_{index}",
                    "type": "function_call",
                    "status": "completed",
                    "call_id": f"call_{self.number}_{index}",
                    "name": name,
                    "arguments": json.dumps(arguments),
                }
                for index, (name, arguments) in enumerate(self.calls)
            ),
        ]

    def whole(self) -> Json:
        return {
            "id": f"resp_{self.number}",
            "object": "response",
            "created_at": 1700000000,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "max_output_tokens": None,
            "model": "gpt-5.5",
            "output": self._output(),
            "parallel_tool_calls": True,
            "previous_response_id": None,
            "store": False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "metadata": {},
            "usage": {
                "input_tokens": self.usage,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": self.usage + 5,
            },
        }

    def events(self) -> Iterator[Json]:
        for number, event in enumerate(self._unnumbered()):
            yield {"type": event.pop("type"), "sequence_number": number, **event}

    def _unnumbered(self) -> Iterator[Json]:
        whole = self.whole()
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        yield {"type": "response.created", "response": begun}
        for index, item in enumerate(whole["output"]):
            begin = item | {
                "message": {"content": [], "status": "in_progress"},
                "function_call": {"arguments": "", "status": "in_progress"},
            }.get(item["type"], {})
            yield {"type": "response.output_item.added", "output_index": index, "item": begin}
            yield from self._deltas(index, item)
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        yield {"type": "response.completed", "response": whole}

    def _deltas(self, index: int, item: Json) -> Iterator[Json]:
        place: Json = {"item_id": item["id"], "output_index": index}
        if item["type"] == "function_call":
            kind = "response.function_call_arguments"
            for piece in self.halves(json.loads(item["arguments"])):
                yield {"type": f"{kind}.delta", **place, "delta": piece}
            done = {"name": item["name"], "arguments": item["arguments"]}
            yield {"type": f"{kind}.done", **place, **done}
        elif item["type"] == "message":
            place["content_index"] = 0
            [part] = item["content"]
            empty = {**part, "text": ""}
            yield {"type": "response.content_part.added", **place, "part": empty}
            for word in self.text.partition(" "):
                delta = {"delta": word, "logprobs": []}
                yield {"type": "response.output_text.delta", **place, **delta}
            text = {"text": self.text, "logprobs": []}
            yield {"type": "response.output_text.done", **place, **text}
            yield {"type": "response.content_part.done", **place, "part": part}


class Compaction(_Responses):
    """What a conversation becomes at the vendor when Codex's own provider asks for that."""

    def _output(self) -> list[Json]:
        content = f"gAAAAAC{self.number:04}"
        return [{"id": f"cmp_{self.number}", "type": "compaction", "encrypted_content": content}]


WRITERS: dict[str, type[Answer]] = {
    "chat_completions": _ChatCompletions,
    "messages": _Messages,
    "generate_content": _GenerateContent,
    "responses": _Responses,
}
