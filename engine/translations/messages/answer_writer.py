"""Neutral answers -> messages in one piece, and neutral events -> the events of a stream."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from engine.translations.messages import answer_fields as fields
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer import Answer, complete_blocks
from engine.translations.neutral.calls import answer_id, arguments_object, call_id, check_buffer
from engine.translations.neutral.json_members import encode
from engine.translations.neutral.request import ChatRequest
from engine.values.trees import Json
from engine.values.usage import Usage


def write_answer(answer: Answer, request: ChatRequest) -> bytes:
    """A message. Its model has the caller's name: clients compare names, and send thoughts back to
    the model alone that they came from."""
    candidate = answer.candidates[0]
    blocks = candidate.blocks
    finish = fields.write_finish(
        candidate.finish, request.stop, has_refusal=neutral.Refusal in map(type, blocks)
    )
    message: Json = {
        "id": answer_id(fields.PREFIX, answer.id or request.id),
        "type": "message",
        "role": "assistant",
        "model": request.model or answer.model,
        "content": _content(complete_blocks(candidate), request),
        **finish,
        "usage": fields.write_usage(answer.usage),
    }
    return encode(message)


def _content(blocks: list[neutral.Block], request: ChatRequest) -> list[Any]:
    """With a mark before the first call of an answer without the thoughts asked for."""
    content: list[object] = []
    thoughts: list[object] = []
    needs_mark, holds = fields.thinks_on_budget(request), holds_thoughts(request)
    for block in blocks:
        if (part := _block(block, hide=hides_thoughts(request))) is None:
            continue
        if holds and isinstance(block, neutral.Reasoning):
            thoughts.append(part)
            continue
        if isinstance(block, neutral.ToolCall):
            content += thoughts
            thoughts = []
        needs_mark = needs_mark and not isinstance(block, neutral.Reasoning)
        if needs_mark and isinstance(block, neutral.ToolCall):
            content.append(fields.write_reasoning("", neutral.NO_SIGNATURE))
            needs_mark = False
        content.append(part)
    return content


def _block(block: neutral.Block, *, hide: bool) -> object:
    """None for a block that says nothing here. `hide`: thoughts are not wanted."""
    if isinstance(block, neutral.Text | neutral.Refusal):
        if not block.text:
            return None
        text: Json = {"type": "text", "text": block.text}
        if isinstance(block, neutral.Text) and block.citations:
            text["citations"] = [
                fields.write_citation(each) for each in block.citations if each.url
            ]
        return text
    if isinstance(block, neutral.Reasoning):
        thoughts = "" if hide else block.text
        if not thoughts and block.signature is None:
            return None
        return fields.write_reasoning(thoughts, block.signature or neutral.NO_SIGNATURE)
    if isinstance(block, neutral.ToolCall):
        return {**open_call(block), "input": arguments_object(block)}
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


def open_call(block: neutral.ToolCall) -> Json:
    return {"type": "tool_use", "id": call_id(block.id), "name": block.name, "input": {}}


def refuse_media(block: neutral.Block) -> None:
    """Raise BrokenAnswer for content that a message has no block for."""
    if isinstance(block, neutral.Media):
        raise events.uncarried(block.kind)


_DELTA_EVENT = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":%b}\n\n'
)


class Writer(events.FirstCandidateWriter):
    """Blocks of text begin with their first content, so that empty ones are not written."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._hides_thoughts = hides_thoughts(request)
        self._index = 0
        self._block: neutral.Block = neutral.Text()
        self._signature: neutral.Signature | None = None
        self._opened = self._has_refusal = self._has_arguments = False
        self._needs_mark = fields.thinks_on_budget(request)
        self._holds_thoughts = holds_thoughts(request)
        self._held: list[neutral.Reasoning] = []
        self._texts: list[str] = []
        self._held_size = 0

    def _start(self, event: events.Start) -> bytes:
        message: Json = {
            "id": answer_id(fields.PREFIX, event.id or self._request.id),
            "type": "message",
            "role": "assistant",
            "model": self._request.model or event.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            # Clients (LangChain.js) add what both ends of a stream say of the output.
            "usage": fields.write_usage(
                event.usage and replace(event.usage, output=0, reasoning=0)
            ),
        }
        return _event({"type": "message_start", "message": message})

    def _open(self, block: neutral.Block) -> bytes:
        refuse_media(block)
        self._block, self._opened = block, False
        if isinstance(block, neutral.ToolCall):
            self._has_arguments = False
            return self._thoughts(block) + self._begin()
        self._has_refusal = self._has_refusal or isinstance(block, neutral.Refusal)
        return b""

    def _thoughts(self, call: neutral.ToolCall) -> bytes:
        """The thoughts that were held back up to a call, and a mark before the first call of an
        answer without those that were asked for."""
        if not (self._held or self._needs_mark):
            return b""
        held, self._held, self._held_size = self._held, [], 0
        holds, self._holds_thoughts = self._holds_thoughts, False
        data = b"".join(map(self._whole_thoughts, held))
        if self._needs_mark:
            data += self._whole_thoughts(neutral.Reasoning(signature=neutral.NO_SIGNATURE))
        self._block, self._opened, self._holds_thoughts = call, False, holds
        return data

    def _whole_thoughts(self, thoughts: neutral.Reasoning) -> bytes:
        self._block, self._opened, self._signature = thoughts, False, thoughts.signature
        return (self._delta(thoughts.text) if thoughts.text else b"") + self._close()

    def _begin(self, content: object = None) -> bytes:
        if self._opened:
            return b""
        self._opened = True
        block = self._block
        self._needs_mark = self._needs_mark and not isinstance(block, neutral.Reasoning)
        if content is None:
            if isinstance(block, neutral.ToolCall):
                content = open_call(block)
            elif isinstance(block, neutral.Reasoning):
                content = fields.write_reasoning("", None)
            else:
                content = {"type": "text", "text": ""}
        return self._block_event("content_block_start", content_block=content)

    def _delta(self, text: str) -> bytes:
        block = self._block
        delta: Json = {"type": "text_delta", "text": text}
        if isinstance(block, neutral.ToolCall):
            if not self._has_arguments and text.isspace():
                return b""  # the SDK parses what came, unless nothing did
            self._has_arguments = True
            delta = {"type": "input_json_delta", "partial_json": text}
        elif isinstance(block, neutral.Reasoning):
            if self._hides_thoughts:
                return b""
            if self._holds_thoughts:
                self._held_size += len(text)
                check_buffer(self._held_size)
                self._texts.append(text)
                return b""
            delta = {"type": "thinking_delta", "thinking": text}
        return self._add(delta) if self._opened else self._begin() + self._add(delta)

    def _sign(self, signature: neutral.Signature) -> bytes:
        self._signature = signature  # written after the thoughts
        self._held_size += len(signature.value) if self._holds_thoughts else 0
        return b""

    def _cite(self, citation: neutral.Citation, late: bool) -> bytes:
        if late or not citation.url:  # a late one belongs to a block that is complete
            return b""
        delta = {"type": "citations_delta", "citation": fields.write_citation(citation)}
        return self._begin() + self._add(delta)

    def _write_signature(self, signature: neutral.Signature) -> bytes:
        content = fields.write_reasoning("", signature)
        if content["type"] == "redacted_thinking":
            return self._begin(content)
        delta = {"type": "signature_delta", "signature": content["signature"]}
        return self._begin() + self._add(delta)

    def _close(self) -> bytes:
        signature, self._signature = self._signature, None
        if self._holds_thoughts and isinstance(self._block, neutral.Reasoning):
            check_buffer(self._held_size)
            self._held.append(neutral.Reasoning(text="".join(self._texts), signature=signature))
            self._texts = []
            return b""
        if isinstance(self._block, neutral.Reasoning) and self._opened:
            signature = signature or neutral.NO_SIGNATURE
        signed = b"" if signature is None else self._write_signature(signature)
        if not self._opened:
            return b""
        closed = self._block_event("content_block_stop")
        self._index += 1
        return signed + closed

    def _end(self, finish: events.Finish, usage: Usage | None) -> bytes:
        delta = fields.write_finish(finish, self._request.stop, has_refusal=self._has_refusal)
        end = {"type": "message_delta", "delta": delta, "usage": fields.write_usage(usage)}
        return _event(end) + _event({"type": "message_stop"})

    def _add(self, delta: Json) -> bytes:
        return _DELTA_EVENT % (self._index, encode(delta))

    def _block_event(self, kind: str, **members: object) -> bytes:
        return _event({"type": kind, "index": self._index, **members})


def _event(document: Json) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (document["type"].encode(), encode(document))
