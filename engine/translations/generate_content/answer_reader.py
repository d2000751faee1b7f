"""Generate content answers -> neutral events. A stream's event is an answer with what is new."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from engine.translations.generate_content.candidate_reader import CandidateReader
from engine.translations.generate_content.fields import field
from engine.translations.neutral.events import (
    BrokenAnswer,
    End,
    Event,
    Finish,
    Start,
    UpstreamError,
    Usage,
)
from engine.translations.neutral.members import Members, WrongType

_MOST_CANDIDATES = 128


def read_answer(body: bytes) -> Iterator[Event]:
    """The events of an answer in one piece. Raises WrongType, BrokenAnswer or UpstreamError."""
    reader = Reader()
    yield from reader.read(body)
    yield from reader.end()


class Reader:
    """Reads the events of a stream."""

    def __init__(self) -> None:
        self._started = False
        self._ended = False
        self._id = ""
        self._candidates: dict[int, CandidateReader] = {}
        self._blocked: Finish | None = None
        self._usage: Usage | None = None

    def read(self, data: bytes) -> Iterator[Event]:
        """The events of one answer, or of those in a list: some upstreams wrap them."""
        if self._ended:
            return
        if data.lstrip()[:1] == b"[":
            for item in _items(data):
                if bytes(item)[:1] == b"{":
                    yield from self._read(Members(item))
        else:
            yield from self._read(Members(data))

    def end(self) -> Iterator[Event]:
        """The last events. Raises BrokenAnswer for an answer that is not complete."""
        if self._ended:
            return
        finishes: dict[int, Finish] = {}
        for index, candidate in self._candidates.items():
            yield from candidate.close()
            finishes[index] = candidate.finished()
        if not finishes and self._blocked is not None:
            finishes[0] = self._blocked
        if not finishes:
            raise BrokenAnswer("the upstream's answer ended without a candidate")
        self._ended = True
        yield End(finishes=finishes, usage=self._usage)

    def _read(self, answer: Members) -> Iterator[Event]:
        if "error" in answer:
            raise read_error(502, msgspec.json.decode(b'{"error":%b}' % answer.peek("error")))
        self._usage = _read_usage(answer) or self._usage
        if not self._started:
            self._started = True
            self._id = answer.text(field(answer, "responseId")) or ""
            yield Start(id=self._id, model=answer.text(field(answer, "modelVersion")) or "")
        feedback = answer.members(field(answer, "promptFeedback"))
        reason = feedback.text(field(feedback, "blockReason")) if feedback is not None else None
        if reason:
            words = f"The prompt was blocked ({reason})."
            self._blocked = Finish(stop="filter", native=reason, explanation=words)
        for each in answer.objects("candidates"):
            index = each.integer("index") or 0
            if index not in range(_MOST_CANDIDATES):
                raise each.wrong("index", f"a number from 0 to {_MOST_CANDIDATES - 1}")
            candidate = self._candidates.get(index)
            if candidate is None:
                candidate = self._candidates[index] = CandidateReader(index, self._id)
            yield from candidate.read(each)


def _items(data: bytes) -> list[Raw]:
    try:
        return msgspec.json.decode(data, type=list[Raw])
    except msgspec.DecodeError as error:
        raise WrongType("the answer", "an object") from error


def _read_usage(answer: Members) -> Usage | None:
    counts = answer.members(field(answer, "usageMetadata"))
    if counts is None:
        return None

    def count(name: str) -> int:
        return counts.integer(field(counts, name)) or 0

    prompt = count("promptTokenCount") + count("toolUsePromptTokenCount")
    output, thoughts, total = (
        count("candidatesTokenCount"),
        count("thoughtsTokenCount"),
        count("totalTokenCount"),
    )
    if thoughts and (not total or total > prompt + output):
        output += thoughts  # else the candidates' count has them already
    cached = min(count("cachedContentTokenCount"), prompt)
    return Usage(input=prompt, output=output, cached=cached, reasoning=min(thoughts, output))


_STATUSES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}


def read_error(status: int, document: Any) -> UpstreamError:
    """The error in an error response; `document` is its JSON, None for none."""
    if isinstance(document, list):
        document = document[0] if document else None
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return UpstreamError(status, error if isinstance(error, str) else "")
    code, word = error.get("code"), error.get("status")
    if status == 502:  # the error of a stream has its status inside
        known = _STATUSES.get(word) if isinstance(word, str) else None
        status = known or (code if type(code) is int and 400 <= code <= 599 else status)
    retry_after = None
    for detail in error.get("details") or ():
        if isinstance(detail, dict):
            if detail.get("reason") == "API_KEY_INVALID":
                status = 401
            retry_after = _seconds(detail.get("retryDelay")) or retry_after
    message = error.get("message")
    return UpstreamError(
        status,
        message if isinstance(message, str) else "",
        word.lower() if isinstance(word, str) else "",
        retry_after,
    )


def _seconds(text: Any) -> float | None:
    """The seconds in a duration such as `12.5s` (google.protobuf.Duration)."""
    number = text.removesuffix("s") if isinstance(text, str) else ""
    return float(number) if number.replace(".", "", 1).isdigit() else None
