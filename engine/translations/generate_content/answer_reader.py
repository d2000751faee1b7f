"""Generate content answers -> neutral events. A stream's event is an answer with what is new."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2s

import msgspec
from msgspec import Raw

from engine.translations.generate_content.candidate_reader import CandidateReader
from engine.translations.generate_content.errors import stream_error
from engine.translations.generate_content.fields import Fields
from engine.translations.generate_content.usage import UsageReader
from engine.translations.neutral.events import BrokenAnswer, End, Event, Finish, Start
from engine.translations.neutral.members import Members, WrongType

_MOST_CANDIDATES = 128
_ITEMS = msgspec.json.Decoder(list[Raw])
_UNSPECIFIED = ("BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED")


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
        self._name = ""
        self._candidates: dict[int, CandidateReader] = {}
        self._blocked: Finish | None = None
        self._usage = UsageReader()

    def read(self, data: bytes) -> Iterator[Event]:
        """The events of one answer, or of those in a list: some upstreams wrap them."""
        if self._ended:
            return
        if data.lstrip()[:1] == b"[":
            for item in _items(data):
                if bytes(item)[:1] == b"{":
                    yield from self._read(bytes(item))
        else:
            yield from self._read(data)

    def end(self) -> Iterator[Event]:
        """The last events. Raises BrokenAnswer for an answer that is not complete."""
        if self._ended:
            return
        finishes: dict[int, Finish] = {}
        for index, candidate in self._candidates.items():
            finishes[index] = candidate.finish()
            yield from candidate.end()
        if not finishes and self._blocked is not None:
            finishes[0] = self._blocked
        if not finishes:
            raise BrokenAnswer("the upstream's answer ended without a candidate")
        self._ended = True
        yield End(finishes=finishes, usage=self._usage.usage())

    def _read(self, data: bytes) -> Iterator[Event]:
        answer = Fields(data)
        if "error" in answer:
            raise stream_error(answer.peek("error"))
        self._usage.read(answer.members("usageMetadata"))
        if not self._started:
            yield self._start(answer, data)
        feedback = answer.members("promptFeedback")
        reason = feedback.text("blockReason") if feedback is not None else None
        if reason and reason not in _UNSPECIFIED:
            words = f"The prompt was blocked ({reason:.40})."
            self._blocked = Finish(stop="filter", native=reason, explanation=words)
        for each in answer.objects("candidates"):
            yield from self._candidate(each).read(each)

    def _start(self, answer: Members, data: bytes) -> Start:
        self._started = True
        answer_id = answer.text("responseId") or ""
        # Calls without ids need some that no other turn has; the first event counts its tokens.
        self._name = answer_id or blake2s(data, digest_size=8).hexdigest()
        model, usage = answer.text("modelVersion") or "", self._usage.usage()
        return Start(id=answer_id, model=model, usage=usage)

    def _candidate(self, candidate: Members) -> CandidateReader:
        index = candidate.integer("index") or 0
        if index not in range(_MOST_CANDIDATES):
            raise candidate.wrong("index", f"a number from 0 to {_MOST_CANDIDATES - 1}")
        reader = self._candidates.get(index)
        if reader is None:
            reader = self._candidates[index] = CandidateReader(index, self._name)
        return reader


def _items(data: bytes) -> list[Raw]:
    try:
        return _ITEMS.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise WrongType("the answer", "an object") from error
