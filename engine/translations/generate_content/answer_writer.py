"""Neutral answers -> generate content, in a stream and in one piece.

Both are made of the same pieces: `Writer` writes a piece of an answer for each event, and an answer
in one piece is what the pieces come to.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.generate_content.fields import NAME, THOUGHT, write_signature
from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.arguments import LARGEST, arguments_object
from engine.translations.neutral.content import (
    Block,
    Citation,
    Foreign,
    Inline,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
    TokenLogprob,
    Tokens,
    Usage,
)
from engine.translations.neutral.request import ChatRequest

Json = dict[str, Any]

_REASONS = {"length": "MAX_TOKENS", "filter": "SAFETY"}


def write_answer(answer: Answer, request: ChatRequest) -> bytes:
    """An answer in one piece."""
    document: Json = {
        "candidates": [
            _candidate(index, candidate, request)
            for index, candidate in enumerate(answer.candidates)
        ],
        **_usage(answer.usage),
        **_head(answer.model or request.model, answer.id or request.id),
    }
    return msgspec.json.encode([document] if request.as_list else document)


def _candidate(index: int, candidate: Candidate, request: ChatRequest) -> Json:
    parts: list[Json] = []
    signature: Signature | None = None
    for block in candidate.blocks:
        if isinstance(block, Reasoning):
            if part := _thought(block.text, request):
                parts.append(part)
            if (signed := block.signature) is not None and _is_own_thought(signed):
                parts.append({**(parts.pop() if part else {"text": "", "thought": True})})
                parts[-1]["thoughtSignature"] = write_signature(signed)
            else:
                signature = signed or signature
        elif (part := _part(block)) is not None:
            parts.append(_signed(part, signature))
            signature = None
    if signature is not None:
        parts.append(_signed({"text": ""}, signature))
    citations = [c for each in candidate.blocks if isinstance(each, Text) for c in each.citations]
    return {
        "content": {"parts": parts, "role": "model"},
        **_finish(candidate.finish),
        "index": index,
        **_grounding(citations),
        **_tokens(candidate.logprobs),
    }


class Writer:
    """Writes the events of one stream."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._head: Json = {}
        self._blocks: dict[int, Block] = {}
        self._signatures: dict[int, Signature] = {}
        self._arguments: dict[int, list[str]] = {}
        self._length = 0
        self._citations: dict[int, list[Citation]] = {}

    def write(self, event: Event) -> bytes:
        """The event of a stream for one neutral event, `b""` for none."""
        if isinstance(event, Start):
            request = self._request
            self._head = _head(event.model or request.model, event.id or request.id)
            return b""
        if isinstance(event, End):
            return self._end(event)
        index = event.candidate
        if isinstance(event, Tokens):
            return self._piece(index, [], **_tokens(event.logprobs))
        if isinstance(event, Open):
            return self._open(index, event.block)
        if isinstance(event, Delta):
            return self._delta(index, event.text)
        if isinstance(event, Sign):
            return self._sign(index, event.signature)
        if isinstance(event, Cite):
            self._citations.setdefault(index, []).append(event.citation)
            return b""
        return self._close(index, event)

    def _open(self, index: int, block: Block) -> bytes:
        self._blocks[index] = block
        self._arguments[index] = []
        if isinstance(block, Media) and (part := _part(block)) is not None:
            return self._part(index, part)
        return b""

    def _delta(self, index: int, text: str) -> bytes:
        block = self._blocks[index]
        if isinstance(block, ToolCall):
            self._arguments[index].append(text)
            self._length += len(text)
            if self._length > LARGEST:
                raise BrokenAnswer(f"the upstream's tool calls have over {LARGEST} characters")
            return b""
        if isinstance(block, Reasoning):
            thought = _thought(text, self._request)
            return self._piece(index, [thought]) if thought else b""
        return self._part(index, {"text": text})

    def _sign(self, index: int, signature: Signature) -> bytes:
        if not _is_own_thought(signature):
            self._signatures[index] = signature
            return b""
        part = {"text": "", "thought": True, "thoughtSignature": write_signature(signature)}
        return self._piece(index, [part])

    def _close(self, index: int, event: Close) -> bytes:
        block = self._blocks[index]
        if not isinstance(block, ToolCall):
            return b""
        block.arguments = "".join(self._arguments.pop(index))
        self._length -= len(block.arguments)
        part = _part(block)
        assert part is not None
        return self._part(index, part)

    def _part(self, index: int, part: Json) -> bytes:
        return self._piece(index, [_signed(part, self._signatures.pop(index, None))])

    def _piece(self, index: int, parts: list[Json], **more: Any) -> bytes:
        content = {"parts": parts, "role": "model"}
        return _event({"candidates": [{"content": content, "index": index, **more}], **self._head})

    def _end(self, event: End) -> bytes:
        candidates = []
        for index, finish in sorted(event.finishes.items()):
            part = _signed({"text": ""}, self._signatures.pop(index, None))
            candidates.append(
                {
                    "content": {"parts": [part], "role": "model"},
                    **_finish(finish),
                    "index": index,
                    **_grounding(self._citations.get(index, [])),
                }
            )
        return _event({"candidates": candidates, **_usage(event.usage), **self._head})


def _is_own_thought(signature: Signature) -> bool:
    return signature.language == NAME and signature.value.startswith(THOUGHT)


def _thought(text: str, request: ChatRequest) -> Json | None:
    """Thoughts, for callers that want to see them."""
    visible = request.thinking is not None and request.thinking.visible
    return {"text": text, "thought": True} if text and visible else None


def _part(block: Block) -> Json | None:
    if isinstance(block, Text | Refusal):
        return {"text": block.text} if block.text else None
    if isinstance(block, ToolCall):
        arguments: Raw = arguments_object(block)
        return {"functionCall": {"id": block.id, "name": block.name, "args": arguments}}
    if isinstance(block, Media) and isinstance(block.source, Inline):
        source = block.source
        return {"inlineData": {"mimeType": source.media_type, "data": source.data}}
    if isinstance(block, Foreign) and block.language == NAME:
        return msgspec.json.decode(block.raw)  # type: ignore[no-any-return]
    return None


def _signed(part: Json, signature: Signature | None) -> Json:
    if signature is None:
        return part
    return {**part, "thoughtSignature": write_signature(signature)}


def _finish(finish: Finish) -> Json:
    written = {"finishReason": _REASONS.get(finish.stop, "STOP")}
    if finish.explanation:
        written["finishMessage"] = finish.explanation
    return written


def _usage(usage: Usage | None) -> Json:
    if usage is None:
        return {}
    counts = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    }
    if usage.cached:
        counts["cachedContentTokenCount"] = usage.cached
    if usage.reasoning:
        counts["thoughtsTokenCount"] = usage.reasoning
    return {"usageMetadata": counts}


def _head(model: str, answer: str) -> Json:
    return {"modelVersion": model, "responseId": answer}


def _grounding(citations: list[Citation]) -> Json:
    cited = [each for each in citations if each.url]
    if not cited:
        return {}
    return {
        "groundingMetadata": {
            "groundingChunks": [{"web": {"uri": each.url, "title": each.title}} for each in cited],
            "groundingSupports": [
                {"segment": {"text": each.cited}, "groundingChunkIndices": [index]}
                for index, each in enumerate(cited)
            ],
        }
    }


def _tokens(tokens: list[TokenLogprob]) -> Json:
    if not tokens:
        return {}
    return {
        "logprobsResult": {
            "topCandidates": [
                {"candidates": [_token(token, logprob) for token, logprob in each.top]}
                for each in tokens
            ],
            "chosenCandidates": [_token(each.token, each.logprob) for each in tokens],
        }
    }


def _token(token: str, logprob: float) -> Json:
    return {"token": token, "logProbability": logprob}


def _event(document: Json) -> bytes:
    return b"data: " + msgspec.json.encode(document) + b"\n\n"
