"""Neutral answers -> generate content in one piece, and neutral events -> the answers of a stream:
server-sent events, or the items of a JSON array."""

from __future__ import annotations

from collections.abc import Iterator

from engine.translations.generate_content import answer_fields as fields
from engine.translations.generate_content.citations import GroundingWriter
from engine.translations.generate_content.part_fields import write_signature
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.calls import are_object, arguments_object
from engine.translations.neutral.json_members import encode, on_one_line
from engine.translations.neutral.request import ChatRequest
from engine.values.event_json import whole_object
from engine.values.trees import Json


def write_answer(answer: Answer, request: ChatRequest) -> bytes:
    candidates = [
        _candidate(index, candidate, request) for index, candidate in enumerate(answer.candidates)
    ]
    head = {"modelVersion": answer.model or request.model, "responseId": answer.id or request.id}
    return encode({"candidates": candidates, **fields.write_usage(answer.usage), **head})


def _candidate(index: int, candidate: Candidate, request: ChatRequest) -> Json:
    writer = _CandidateWriter(request)
    parts = [part for block in candidate.blocks for part in writer.whole(block)]
    return {
        "content": {"parts": [*parts, *writer.rest()], "role": "model"},
        **writer.ending(candidate.finish),
        "index": index,
        **fields.write_logprobs(candidate.logprobs),
    }


def _media(block: neutral.Media) -> Json | None:
    source = block.source
    if isinstance(source, neutral.Inline):
        return {"inlineData": {"mimeType": source.media_type, "data": source.data}}
    if isinstance(source, neutral.Link):
        media_type = {"mimeType": source.media_type} if source.media_type else {}
        return {"fileData": {**media_type, "fileUri": source.url}}
    return None


_ANSWER_BEGIN = b'{"candidates":[{"content":{"parts":['
_EMPTY_PART = {"text": ""}
"""For an answer of a stream without another part: the chats of Google's SDKs forget an exchange if
one of its answers has none."""


class _CandidateWriter(events.BlockWriter[Json | None]):
    """The state of one candidate: its open block, and the signature of the part that follows."""

    def __init__(self, request: ChatRequest, answer_end: bytes = b"") -> None:
        self.answer_end = answer_end
        """The text of its answers behind the part."""
        self._request = request
        self._block: neutral.Block = neutral.Text()
        self._arguments: list[str] = []
        self._signature: neutral.Signature | None = None
        self._grounding = GroundingWriter()
        self._has_refusal = self._has_call = False

    def text(self, text: str) -> Json | None:
        block = self._block
        if isinstance(block, neutral.Text):  # nearly every delta
            self._grounding.offsets.add(text)
        elif isinstance(block, neutral.ToolCall):
            self._arguments.append(text)
            return None
        elif isinstance(block, neutral.Reasoning):
            thinking = self._request.thinking
            visible = thinking is not None and thinking.visible  # the caller wants to see them
            return {"text": text, "thought": True} if text and visible else None
        part: Json = {"text": text}
        return part if self._signature is None else self._signed(part)

    def whole(self, block: neutral.Block) -> Iterator[Json]:
        parts = [self._open(block)]
        if isinstance(block, neutral.ToolCall):
            self._arguments.append(block.arguments)
        elif isinstance(block, neutral.Text | neutral.Refusal | neutral.Reasoning) and block.text:
            parts.append(self.text(block.text))
        if isinstance(block, neutral.Text):
            for citation in block.citations:
                self._grounding.cite(citation)
        parts.append(self._close())
        return (part for part in parts if part is not None)

    def rest(self) -> list[Json]:
        """An empty part with the signature that no part has followed; none without one."""
        return [] if self._signature is None else [self._signed({"text": ""})]

    def ending(self, finish: events.Finish) -> Json:
        reason = fields.write_finish(finish, has_refusal=self._has_refusal)
        return {**reason, **self._grounding.members()}

    def _sign(self, signature: neutral.Signature) -> None:
        if isinstance(self._block, neutral.Reasoning):
            self._block.signature = signature

    def _cite(self, citation: neutral.Citation, late: bool) -> None:
        self._grounding.cite(citation, late=late)

    def _open(self, block: neutral.Block) -> Json | None:
        self._block = block
        if isinstance(block, neutral.Text | neutral.Refusal | neutral.Reasoning | neutral.ToolCall):
            self._has_refusal = self._has_refusal or isinstance(block, neutral.Refusal)
            is_text = isinstance(block, neutral.Text | neutral.Refusal)
            if is_text and self.answer_end and self._signature is not None:
                return self._signed({"text": ""})  # clients end a text at a part with a signature
            return None
        part = _media(block) if isinstance(block, neutral.Media) else None
        return None if part is None else self._signed(part)

    def _close(self) -> Json | None:
        block = self._block
        if isinstance(block, neutral.Text):
            self._grounding.close()
        if isinstance(block, neutral.Reasoning) and block.signature is not None:
            before = None if self._signature is None else self._signed({"text": ""})
            self._signature = block.signature
            return before
        if not isinstance(block, neutral.ToolCall):
            return None
        block.arguments = whole_object("".join(self._arguments))
        self._arguments = []
        if not are_object(block.arguments):  # cut off at the limit of tokens
            return None
        if self._signature is None and not self._has_call:
            self._signature = neutral.NO_SIGNATURE  # newer models want one of the first call
        self._has_call = True
        call = {"id": block.id, "name": block.name, "args": arguments_object(block)}
        return self._signed({"functionCall": call})

    def _signed(self, part: Json) -> Json:
        """A part with the signature that stands before it."""
        signature, self._signature = self._signature, None
        if signature is None:
            return part
        return {**part, "thoughtSignature": write_signature(signature)}


class Writer:
    """Writes a stream: events, or (`as_list`) a JSON array, item by item. What all answers of a
    candidate have around their part is written once."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._head: Json = {}
        self._candidates: dict[int, _CandidateWriter] = {}
        self._begin, self._end = (b"[", b"\n") if request.as_list else (b"data: ", b"\n\n")

    def write(self, event: events.Event) -> bytes:
        if isinstance(event, events.Delta):  # nearly every event
            candidate = self._candidates.get(event.candidate) or self._add(event.candidate)
            if (part := candidate.text(event.text)) is None:
                return b""
            return self._item(_ANSWER_BEGIN + encode(part) + candidate.answer_end)
        if isinstance(event, events.Start):
            model, answer_id = event.model or self._request.model, event.id or self._request.id
            self._head = {"modelVersion": model, "responseId": answer_id}
            return b""
        if isinstance(event, events.End):
            return self._write_end(event)
        if isinstance(event, events.Tokens):
            return self._write_tokens(event)
        candidate = self._candidates.get(event.candidate) or self._add(event.candidate)
        if (part := candidate.block_event(event)) is None:
            return b""
        return self._answer(_ANSWER_BEGIN + encode(part) + candidate.answer_end)

    def _add(self, index: int) -> _CandidateWriter:
        answer_end = b'],"role":"model"},"index":%d}],%b' % (index, encode(self._head)[1:])
        return self._candidates.setdefault(index, _CandidateWriter(self._request, answer_end))

    def _write_tokens(self, event: events.Tokens) -> bytes:
        content = {"parts": [_EMPTY_PART], "role": "model"}
        tokens = fields.write_logprobs(event.logprobs)
        candidate = {"content": content, "index": event.candidate, **tokens}
        return self._answer(encode({"candidates": [candidate], **self._head}))

    def _write_end(self, event: events.End) -> bytes:
        candidates = []
        for index, finish in sorted(event.finishes.items()):
            candidate = self._candidates.get(index) or self._add(index)
            content = {"parts": candidate.rest() or [_EMPTY_PART], "role": "model"}
            candidates.append({"content": content, **candidate.ending(finish), "index": index})
        answer = {"candidates": candidates, **fields.write_usage(event.usage), **self._head}
        return self._answer(encode(answer)) + (b"]\n" if self._request.as_list else b"")

    def _answer(self, data: bytes) -> bytes:
        """An answer that may have JSON that is passed on."""
        return self._item(data if self._request.as_list else on_one_line(data))

    def _item(self, data: bytes) -> bytes:
        begin = self._begin
        if self._request.as_list:
            self._begin = b",\n"
        return begin + data + self._end
