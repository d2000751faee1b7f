"""Generate content answers -> neutral events. A stream's event is an answer with what is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from engine.translations.generate_content import answer_fields as fields
from engine.translations.generate_content.candidate_reader import CandidateReader
from engine.translations.neutral import events
from engine.translations.neutral.calls import name_of_answer
from engine.translations.neutral.json_members import ITEMS, NOT_OF_TYPE, decode
from engine.translations.neutral.refusals import is_error
from engine.values.event_json import json_or_none

_decode_event = fields.ANSWER.decode


def read_answer(body: bytes) -> Iterable[events.Event]:
    """The events of an answer, which is complete even if it has no finish reason."""
    reader = Reader()
    return chain(reader.read(body), reader.end("STOP"))


class Reader:
    _started = _ended = False
    _name = ""
    _blocked: events.Finish | None = None

    def __init__(self) -> None:
        self._candidates: dict[int, CandidateReader] = {}

    def read(self, data: bytes) -> Iterable[events.Event]:
        """The events of one answer, or of those in a list: some upstreams wrap them."""
        if self._ended:
            return ()
        if not data.startswith(b"{") and data.lstrip().startswith(b"["):
            return self._read_items(data)
        text = fields.documented(data) if b"_" in data else data
        try:
            answer = _decode_event(text)
        except NOT_OF_TYPE:
            answer = fields.ANSWER.read(text)
        if answer.error and is_error(answer.error):
            raise fields.ERRORS.inside(json_or_none(text) or {"error": True})
        if not answer.candidates:
            fields.ERRORS.refuse(text)
        if (feedback := answer.prompt_feedback) is not None:
            reason = feedback.block_reason
            if reason and not reason.endswith("_REASON_UNSPECIFIED"):
                words = f"The prompt was blocked ({reason:.40})."
                self._blocked = events.Finish(stop="filter", native=reason, explanation=words)
        if not self._started:
            start = self._start(text)
            return chain((start,), self._read_candidates(answer.candidates or (), text))
        candidates = answer.candidates or ()
        if len(candidates) == 1:  # nearly every event
            return self._read_candidate(0, candidates[0], text)
        return self._read_candidates(candidates, text)

    def end(self, missing: str = "") -> Iterator[events.Event]:
        """`missing`: why a candidate with content ended that does not say so, "" if it must."""
        if self._ended:
            return
        finishes: dict[int, events.Finish] = {}
        if len(self._candidates) > 1 and any(each.reason for each in self._candidates.values()):
            missing = ""  # only some break off
        for index, candidate in self._candidates.items():
            if self._blocked is None or candidate.reason:
                finishes[index] = candidate.finish(missing)
            else:
                finishes[index] = self._blocked
            yield from candidate.end()
        if not finishes and self._blocked is not None:
            finishes[0] = self._blocked
        if not finishes:
            raise events.BrokenAnswer("the upstream's answer ended without a candidate")
        self._ended = True
        yield events.End(finishes=finishes)

    def _read_items(self, data: bytes) -> Iterator[events.Event]:
        for item in decode(ITEMS, data, "the answer", "an object"):
            if bytes(item)[:1] == b"{":
                yield from self.read(bytes(item))

    def _read_candidates(
        self, candidates: Sequence[fields.Candidate], data: bytes
    ) -> Iterator[events.Event]:
        for position, each in enumerate(candidates):
            yield from self._read_candidate(position, each, data)

    def _start(self, data: bytes) -> events.Start:
        self._started = True
        head = fields.HEAD.read(data)
        self._name = name_of_answer(head.response_id, data)
        return events.Start(id=head.response_id or "", model=head.model_version or "")

    def _read_candidate(
        self, position: int, candidate: fields.Candidate, data: bytes
    ) -> Iterable[events.Event]:
        index = candidate.index or 0
        if (reader := self._candidates.get(index)) is None:
            events.check_candidate(index, f"candidates[{position}].index")
            reader = self._candidates[index] = CandidateReader(index, self._name)
        return reader.read(candidate, position, data)
