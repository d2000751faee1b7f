"""Neutral events -> the answers of a stream: server-sent events, or the items of a JSON array."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.translations.generate_content.finish import write_finish
from engine.translations.generate_content.grounding_writer import GroundingWriter
from engine.translations.generate_content.logprobs import write_logprobs
from engine.translations.generate_content.parts import (
    signs_thought,
    thought_part,
    thought_signature,
    with_signature,
    write_part,
)
from engine.translations.generate_content.usage import write_usage
from engine.translations.neutral.arguments import LARGEST
from engine.translations.neutral.content import (
    Block,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
    Tokens,
)
from engine.translations.neutral.members import WrongType
from engine.translations.neutral.request import ChatRequest

Json = dict[str, Any]


class _CandidateWriter:
    """The state of one candidate: its open block, and the signature of the part that follows."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._block: Block = Text()
        self._arguments: list[str] = []
        self._length = 0
        self._signature: Signature | None = None
        self._grounding = GroundingWriter()
        self._has_refusal = False
        self._wrong_arguments: WrongType | None = None

    def parts(self, event: Event) -> list[Json]:
        """The parts that an event comes to."""
        match event:
            case Open():
                return self._open(event.block)
            case Delta():
                return self._delta(event.text) if event.text else []
            case Sign():
                return self._sign(event.signature)
            case Cite():
                self._grounding.cite(event.citation)
                return []
        return self._close()

    def end(self, finish: Finish) -> Json:
        """What the last piece has: an empty part, the reason and the sources.

        A call whose arguments were cut off at the limit of tokens is left out. Raises WrongType
        for other arguments that are no object.
        """
        if self._wrong_arguments is not None and finish.stop != "length":
            raise self._wrong_arguments
        return {
            "content": {"parts": self._with_signature({"text": ""}), "role": "model"},
            **write_finish(finish, has_refusal=self._has_refusal),
            **self._grounding.members(),
        }

    def _open(self, block: Block) -> list[Json]:
        if self._wrong_arguments is not None:
            raise self._wrong_arguments
        self._block = block
        if isinstance(block, Text | Refusal | Reasoning | ToolCall):
            self._has_refusal = self._has_refusal or isinstance(block, Refusal)
            return []
        part = write_part(block)
        return [] if part is None else self._with_signature(part)

    def _delta(self, text: str) -> list[Json]:
        if isinstance(self._block, ToolCall):
            self._arguments.append(text)
            self._length += len(text)
            if self._length > LARGEST:
                raise BrokenAnswer(f"the upstream's tool calls have over {LARGEST} characters")
            return []
        if isinstance(self._block, Reasoning):
            thought = thought_part(text, self._request)
            return [] if thought is None else [thought]
        if isinstance(self._block, Text):
            self._grounding.text(text)
        return self._with_signature({"text": text})

    def _sign(self, signature: Signature) -> list[Json]:
        if signs_thought(signature):
            return [thought_signature(signature)]
        if isinstance(self._block, Reasoning):
            self._block.signature = signature
        return []

    def _close(self) -> list[Json]:
        block = self._block
        if isinstance(block, Text):
            self._grounding.close()
        if isinstance(block, Reasoning) and block.signature is not None:
            before = [] if self._signature is None else self._with_signature({"text": ""})
            self._signature = block.signature
            return before
        if not isinstance(block, ToolCall):
            return []
        block.arguments = "".join(self._arguments)
        self._arguments, self._length = [], 0
        try:
            part = write_part(block)
        except WrongType as error:
            self._wrong_arguments = error
            return []
        return [] if part is None else self._with_signature(part)

    def _with_signature(self, part: Json) -> list[Json]:
        signature, self._signature = self._signature, None
        return [with_signature(part, signature)]


class Writer:
    """Writes one stream. Without server-sent events (`as_list`) it is a JSON array, written item by
    item."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._head: Json = {}
        self._candidates: dict[int, _CandidateWriter] = {}
        self._items = 0

    def write(self, event: Event) -> bytes:
        """The answer for one neutral event, `b""` for none."""
        if isinstance(event, Start):
            model, answer_id = event.model or self._request.model, event.id or self._request.id
            self._head = {"modelVersion": model, "responseId": answer_id}
            return b""
        if isinstance(event, End):
            return self._end(event)
        if isinstance(event, Tokens):
            return self._piece(event.candidate, [], write_logprobs(event.logprobs))
        parts = self._candidate(event.candidate).parts(event)
        return self._piece(event.candidate, parts, {}) if parts else b""

    def _candidate(self, index: int) -> _CandidateWriter:
        if index not in self._candidates:
            self._candidates[index] = _CandidateWriter(self._request)
        return self._candidates[index]

    def _piece(self, index: int, parts: list[Json], more: Json) -> bytes:
        candidate = {"content": {"parts": parts, "role": "model"}, "index": index, **more}
        return self._answer({"candidates": [candidate], **self._head})

    def _end(self, event: End) -> bytes:
        candidates = [
            {**self._candidate(index).end(finish), "index": index}
            for index, finish in sorted(event.finishes.items())
        ]
        answer = {"candidates": candidates, **write_usage(event.usage), **self._head}
        return self._answer(answer) + (b"]\n" if self._request.as_list else b"")

    def _answer(self, document: Json) -> bytes:
        data = msgspec.json.encode(document)
        self._items += 1
        if self._request.as_list:
            return (b"[" if self._items == 1 else b",\n") + data + b"\n"
        if b"\n" in data or b"\r" in data:  # JSON that is passed on; a line end would end the data
            data = bytes(msgspec.json.format(data, indent=-1))
        return b"data: " + data + b"\n\n"
