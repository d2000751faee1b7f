"""Neutral events -> the answers of a stream: server-sent events, or the items of a JSON array."""

from __future__ import annotations

import msgspec

from engine.translations.generate_content.answer_fields import (
    write_finish,
    write_logprobs,
    write_usage,
)
from engine.translations.generate_content.answer_writer import (
    signs_thought,
    thought_part,
    thought_signature,
    with_signature,
    write_part,
)
from engine.translations.generate_content.citations import GroundingWriter
from engine.translations.neutral.calls import are_object
from engine.translations.neutral.content import (
    Block,
    Json,
    Reasoning,
    Refusal,
    Signature,
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
    Tokens,
)
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.signatures import NO_SIGNATURE

_encode = msgspec.json.Encoder().encode
_ANSWER_BEGIN = b'{"candidates":[{"content":{"parts":['


class _CandidateWriter:
    """The state of one candidate: its open block, and the signature of the part that follows."""

    def __init__(self, request: ChatRequest, answer_end: bytes) -> None:
        self.answer_end = answer_end
        """The text of its answers behind the part."""
        self._request = request
        self._block: Block = Text()
        self._arguments: list[str] = []
        self._signature: Signature | None = None
        self._grounding = GroundingWriter()
        self._has_refusal = self._has_call = False

    def text(self, text: str) -> Json | None:
        """The part with more of the open block's text, None for none."""
        block = self._block
        if isinstance(block, Text):  # nearly every delta
            self._grounding.offsets.add(text)
        elif isinstance(block, ToolCall):
            self._arguments.append(text)
            return None
        elif isinstance(block, Reasoning):
            return thought_part(text, self._request)
        part: Json = {"text": text}
        return part if self._signature is None else self._signed(part)

    def part(self, event: Open | Sign | Cite | Close) -> Json | None:
        """The part that another event comes to, None for none."""
        match event:
            case Open():
                return self._open(event.block)
            case Sign():
                return self._sign(event.signature)
            case Cite():
                self._grounding.cite(event.citation, late=event.late)
            case Close():
                return self._close()
        return None

    def end(self, finish: Finish) -> Json:
        """What the last piece has: an empty part, the reason and the sources."""
        return {
            "content": {"parts": [self._signed({"text": ""})], "role": "model"},
            **write_finish(finish, has_refusal=self._has_refusal),
            **self._grounding.members(),
        }

    def _open(self, block: Block) -> Json | None:
        self._block = block
        if isinstance(block, Text | Refusal | Reasoning | ToolCall):
            self._has_refusal = self._has_refusal or isinstance(block, Refusal)
            return None
        part = write_part(block)
        return None if part is None else self._signed(part)

    def _sign(self, signature: Signature) -> Json | None:
        if signs_thought(signature):
            return thought_signature(signature)
        if isinstance(self._block, Reasoning):
            self._block.signature = signature
        return None

    def _close(self) -> Json | None:
        block = self._block
        if isinstance(block, Text):
            self._grounding.close()
        if isinstance(block, Reasoning) and block.signature is not None:
            before = None if self._signature is None else self._signed({"text": ""})
            self._signature = block.signature
            return before
        if not isinstance(block, ToolCall):
            return None
        block.arguments = "".join(self._arguments)
        self._arguments = []
        if not are_object(block.arguments):  # cut off at the limit of tokens
            return None
        part = write_part(block)
        if self._signature is None and not self._has_call:
            self._signature = NO_SIGNATURE  # newer models want one of the first call
        self._has_call = True
        return None if part is None else self._signed(part)

    def _signed(self, part: Json) -> Json:
        signature, self._signature = self._signature, None
        return with_signature(part, signature)


class Writer:
    """Writes one stream. Without server-sent events (`as_list`) it is a JSON array, written item by
    item. What all answers of a candidate have around their part is written once."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._head: Json = {}
        self._candidates: dict[int, _CandidateWriter] = {}
        self._begin, self._end = (b"[", b"\n") if request.as_list else (b"data: ", b"\n\n")

    def write(self, event: Event) -> bytes:
        """The answer for one neutral event, `b""` for none."""
        if isinstance(event, Delta):  # nearly every event
            candidate = self._candidates.get(event.candidate) or self._add(event.candidate)
            part = candidate.text(event.text)
            if part is None:
                return b""
            return self._item(_ANSWER_BEGIN + _encode(part) + candidate.answer_end)
        if isinstance(event, Start):
            model, answer_id = event.model or self._request.model, event.id or self._request.id
            self._head = {"modelVersion": model, "responseId": answer_id}
            return b""
        if isinstance(event, End):
            return self._write_end(event)
        if isinstance(event, Tokens):
            return self._write_tokens(event)
        candidate = self._candidates.get(event.candidate) or self._add(event.candidate)
        part = candidate.part(event)
        if part is None:
            return b""
        return self._answer(_ANSWER_BEGIN + _encode(part) + candidate.answer_end)

    def _add(self, index: int) -> _CandidateWriter:
        head = _encode(self._head)[1:]
        answer_end = b'],"role":"model"},"index":%d}],%b' % (index, head)
        candidate = self._candidates[index] = _CandidateWriter(self._request, answer_end)
        return candidate

    def _write_tokens(self, event: Tokens) -> bytes:
        content = {"parts": [], "role": "model"}
        tokens = write_logprobs(event.logprobs)
        candidate = {"content": content, "index": event.candidate, **tokens}
        return self._answer(_encode({"candidates": [candidate], **self._head}))

    def _write_end(self, event: End) -> bytes:
        candidates = []
        for index, finish in sorted(event.finishes.items()):
            candidate = self._candidates.get(index) or self._add(index)
            candidates.append({**candidate.end(finish), "index": index})
        answer = {"candidates": candidates, **write_usage(event.usage), **self._head}
        return self._answer(_encode(answer)) + (b"]\n" if self._request.as_list else b"")

    def _answer(self, data: bytes) -> bytes:
        """An answer that may have JSON that is passed on: a line end in it would end the data."""
        if not self._request.as_list and (b"\n" in data or b"\r" in data):
            data = bytes(msgspec.json.format(data, indent=-1))
        return self._item(data)

    def _item(self, data: bytes) -> bytes:
        begin = self._begin
        if self._request.as_list:
            self._begin = b",\n"
        return begin + data + self._end
