"""Neutral answers -> chat completions in one piece, and neutral events -> the chunks of a stream.

SDKs join the deltas of a stream: entries of lists by their `index`, and strings by adding them. So
each entry has its index, and what comes once is written once. Annotations have no index: they are
all in one delta, behind the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from engine.translations.chat_completions.answer_fields import PREFIX, write_counts, write_finish
from engine.translations.chat_completions.thoughts import write_detail
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.calls import answer_id, arguments_text, check_buffer
from engine.translations.neutral.json_members import encode
from engine.translations.neutral.request import ChatRequest
from engine.translations.vendors.openai_content import write_citation, write_logprobs, write_url
from engine.values.trees import Json

_citations = attrgetter("citations")


def write_answer(answer: Answer, request: ChatRequest) -> bytes:
    document: Json = {
        "id": answer_id(PREFIX, answer.id or request.id),
        "object": "chat.completion",
        "created": answer.created or request.time,
        "model": answer.model or request.model,
        "choices": [
            _choice(index, candidate, request) for index, candidate in enumerate(answer.candidates)
        ],
    }
    if answer.usage is not None:
        document["usage"] = write_counts(answer.usage)
    return encode(document)


def _choice(index: int, candidate: Candidate, request: ChatRequest) -> Json:
    logprobs = None
    if candidate.logprobs:
        logprobs = {"content": write_logprobs(candidate.logprobs), "refusal": None}
    return {
        "index": index,
        "message": _older(_message(candidate), request),
        "logprobs": logprobs,
        **_older(write_finish(candidate.finish), request),
    }


def _older(members: Json, request: ChatRequest) -> Json:
    """A message, a delta or a finish for a caller of `functions`: its only call has no id."""
    if request.one_call and (calls := members.pop("tool_calls", None)):
        members["function_call"] = calls[0]["function"]
    if request.one_call and members.get("finish_reason") == "tool_calls":
        members["finish_reason"] = "function_call"
    return members


def _message(candidate: Candidate) -> Json:
    blocks: dict[type[neutral.Block], list[Any]] = {}
    for block in candidate.blocks:
        blocks.setdefault(type(block), []).append(block)
    texts, calls = blocks.get(neutral.Text, ()), blocks.get(neutral.ToolCall)
    refusal = "".join([block.text for block in blocks.get(neutral.Refusal, ())])
    text = "".join([block.text for block in texts])
    message: Json = {
        "role": "assistant",
        "content": text if texts or not (calls or refusal) else None,
        "refusal": (refusal or candidate.finish.explanation) or None,
    }
    if any(map(_citations, texts)) and (annotations := _annotations(texts)):
        message["annotations"] = annotations
    if reasoning := blocks.get(neutral.Reasoning):
        message["reasoning_content"] = "".join(block.text for block in reasoning)
        message["reasoning_details"] = [
            write_detail(index, block.text, block.signature)
            for index, block in enumerate(reasoning)
        ]
    if media := blocks.get(neutral.Media):
        message["images"] = [image(block) for block in media]
    if calls:
        message["tool_calls"] = [_call(block, arguments_text(block)) for block in calls]
    return message


def _call(block: neutral.ToolCall, arguments: str) -> Json:
    function = {"name": block.name, "arguments": arguments}
    return {"id": block.id, "type": "function", "function": function}


def image(block: neutral.Media) -> Json:
    """An image of an answer, as OpenRouter writes them. Raises BrokenAnswer for other content."""
    source = block.source
    if block.kind != "image" or not isinstance(source, neutral.Inline | neutral.Link):
        raise events.uncarried(block.kind)
    return {"type": "image_url", "image_url": {"url": write_url(source)}}


def _annotations(texts: Iterable[neutral.Text]) -> list[Json]:
    offset, annotations = 0, []
    for block in texts:
        length = len(block.text)
        annotations += [annotation(each, offset, length) for each in block.citations if each.url]
        offset += length
    return annotations


def annotation(citation: neutral.Citation, offset: int, length: int) -> Json:
    """A citation of a text that begins at `offset` of the content and has `length` characters."""
    return {"type": "url_citation", "url_citation": write_citation(citation, offset, length)}


class _Choice(events.BlockWriter[Json | None]):
    """Writes the deltas of one choice; knows its open block, and how much of each kind came."""

    def __init__(self, chunk_start: bytes, request: ChatRequest) -> None:
        self._request, self.chunk_start = request, chunk_start
        """The text of its chunks before the delta."""
        self._block: neutral.Block = neutral.Text()
        self._calls = self._reasonings = self._images = 0
        self._has_arguments = False
        self._text_length = self._block_length = 0
        self._signature: neutral.Signature | None = None
        self._citations: list[neutral.Citation] = []
        self._late: list[neutral.Citation] = []
        self._annotations: list[Json] = []
        self._size = 0

    def text(self, text: str) -> Json:
        block = self._block
        if isinstance(block, neutral.Text):  # nearly every delta
            self._block_length += len(text)
            return {"content": text}
        if isinstance(block, neutral.ToolCall):
            self._has_arguments = self._has_arguments or not text.isspace()
            return self._arguments(text)
        if isinstance(block, neutral.Reasoning):
            details = [write_detail(self._reasonings - 1, text, None)]
            return {"reasoning_content": text, "reasoning_details": details}
        return {"refusal": text} if isinstance(block, neutral.Refusal) else {"content": text}

    def annotations(self) -> Json | None:
        """The delta with all annotations of the text, None for none."""
        self._annotations += [annotation(each, 0, self._text_length) for each in self._late]
        return {"annotations": self._annotations} if self._annotations else None

    def _sign(self, signature: neutral.Signature) -> None:
        self._signature = signature

    def _cite(self, citation: neutral.Citation, late: bool) -> None:
        """Keep a citation until its text is complete. Raises BrokenAnswer for too much."""
        if not citation.url:
            return
        self._size += len(citation.url) + len(citation.title)
        check_buffer(self._size, "citations have")
        (self._late if late else self._citations).append(citation)

    def _open(self, block: neutral.Block) -> Json | None:
        self._block, self._has_arguments, self._block_length = block, False, 0
        if isinstance(block, neutral.ToolCall):
            self._calls += 1
            calls = [{"index": self._calls - 1, **_call(block, "")}]
            return _older({"tool_calls": calls}, self._request)
        if isinstance(block, neutral.Reasoning):
            self._reasonings += 1
        elif isinstance(block, neutral.Media):
            self._images += 1
            return {"images": [{**image(block), "index": self._images - 1}]}
        return None

    def _close(self) -> Json | None:
        offset, length = self._text_length, self._block_length
        self._annotations += [annotation(each, offset, length) for each in self._citations]
        self._citations = []
        self._text_length += self._block_length
        self._block_length = 0
        if self._signature is not None:
            signature, self._signature = self._signature, None
            return {"reasoning_details": [write_detail(self._reasonings - 1, "", signature)]}
        if isinstance(self._block, neutral.ToolCall) and not self._has_arguments:
            return self._arguments("{}")
        return None

    def _arguments(self, text: str) -> Json:
        calls = [{"index": self._calls - 1, "function": {"arguments": text}}]
        return _older({"tool_calls": calls}, self._request)


class Writer:
    """What all chunks of a choice have around their delta is written once."""

    def __init__(self, request: ChatRequest) -> None:
        self._request = request
        self._choices: dict[int, _Choice] = {}
        self._head: Json = {}
        self._chunk_end = b'}],"usage":null}\n\n' if request.stream_usage else b"}]}\n\n"

    def write(self, event: events.Event) -> bytes:
        if isinstance(event, events.Delta):  # nearly every event
            choice = self._choices[event.candidate]
            return self._chunk(choice, choice.text(event.text))
        if isinstance(event, events.Start):
            return self._start(event)
        if isinstance(event, events.End):
            return self._end(event)
        begin = b"" if event.candidate in self._choices else self._begin(event.candidate)
        if isinstance(event, events.Tokens):
            tokens = {"content": write_logprobs(event.logprobs), "refusal": None}
            return begin + self._whole_chunk(event.candidate, {"delta": {}, "logprobs": tokens})
        choice = self._choices[event.candidate]
        delta = choice.block_event(event)
        return begin if delta is None else begin + self._chunk(choice, delta)

    def _start(self, event: events.Start) -> bytes:
        request = self._request
        self._head = {
            "id": answer_id(PREFIX, event.id or request.id),
            "object": "chat.completion.chunk",
            "created": event.created or request.time,
            "model": event.model or request.model,
        }
        return self._begin(0)

    def _begin(self, candidate: int) -> bytes:
        members = b'{"index":%d,"logprobs":null,"finish_reason":null,"delta":' % candidate
        start = b'data: %b,"choices":[%b' % (encode(self._head)[:-1], members)
        choice = self._choices[candidate] = _Choice(start, self._request)
        return self._chunk(choice, {"role": "assistant", "content": ""})

    def _chunk(self, choice: _Choice, delta: Json) -> bytes:
        return choice.chunk_start + encode(delta) + self._chunk_end

    def _end(self, event: events.End) -> bytes:
        output = b""
        for candidate, finish in sorted(event.finishes.items()):
            choice = self._choices.get(candidate)
            if choice is not None and (annotations := choice.annotations()) is not None:
                output += self._chunk(choice, annotations)
            refusal = {"refusal": finish.explanation} if finish.explanation else {}
            members = {"delta": refusal, **_older(write_finish(finish), self._request)}
            output += self._whole_chunk(candidate, members)
        if event.usage is not None and self._request.stream_usage:
            usage = {**self._head, "choices": [], "usage": write_counts(event.usage)}
            output += _event(usage)
        return output + b"data: [DONE]\n\n"

    def _whole_chunk(self, candidate: int, values: Json) -> bytes:
        """A chunk that has other members beside its delta."""
        choice = {"index": candidate, "logprobs": None, "finish_reason": None, **values}
        usage = {"usage": None} if self._request.stream_usage else {}
        return _event({**self._head, "choices": [choice], **usage})


def _event(document: Json) -> bytes:
    return b"data: " + encode(document) + b"\n\n"
