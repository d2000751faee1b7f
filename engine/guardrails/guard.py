"""Asks the webhook of a guard about texts, and decides by its verdicts.

Texts that are too long for one question are asked in several, one after another; the first that is
blocked ends it. What fails is decided by `on_failure`, and logged. A guard that only reports asks
in the background, for a bounded number of requests at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import gevent

from engine.exchange.exchange import Exchange
from engine.exchange.stage_services import GuardCalls, GuardFailed
from engine.guardrails.contract import (
    BLOCK,
    PASS,
    REDACT,
    InvalidVerdict,
    TextPart,
    Verdict,
    Window,
    question,
    read_verdict,
    verdict_validator,
)
from engine.guardrails.settings import GuardSettings, block_error, unjudged_error
from engine.values.metric import Collector, Sample, counter

MAX_PARTS = 10_000
"""Parts of texts in one question: to write and to read more of them takes milliseconds."""

log = logging.getLogger("modelway")

MAX_REPORTS = 32
"""Questions of a guard that only reports, at one time in a worker; more are dropped."""

Replacements = Mapping[tuple[str, int], str]
"""New texts of parts, by the pointer and offset of each."""

FAILED, DROPPED = "failed", "dropped"
VERDICTS = counter(
    "modelway_guard_verdicts_total",
    "webhook stage verdict",
    "Verdicts of guards: pass, redact, block, failed (the webhook did not answer as it should) or "
    "dropped (of a guard that only reports, with too many questions at one time). stage is request "
    "or response; webhook is the host of its URL, or the name of its upstream.",
)


class Guard:
    """One guard in one worker."""

    def __init__(self, settings: GuardSettings, webhooks: GuardCalls) -> None:
        self.settings = settings
        self._webhooks = webhooks
        self._reports = 0
        verdict_validator()

    def judge(
        self,
        exchange: Exchange,
        stage: str,
        texts: Mapping[str, str],
        window: Window | None = None,
    ) -> Mapping[str, str]:
        """The texts, by their pointers, that replace some of `texts`. Raises as `ask`."""
        chunk = self.settings.chunk
        return join_parts(texts, self.ask(exchange, stage, batches(texts, chunk), window), chunk)

    def ask(
        self,
        exchange: Exchange,
        stage: str,
        questions: Iterable[Sequence[TextPart]],
        window: Window | None = None,
    ) -> Replacements:
        """What replaces some parts of texts, in several questions. Raises GatewayError 403 for what
        is blocked, and 503 for what could not be judged and must not pass."""
        remaining = iter(questions)
        if (first := next(remaining, None)) is None:
            return {}
        remaining = chain([first], remaining)
        if self.settings.reports:
            self._report(exchange, stage, remaining, window)
            return {}
        return self._replacements(exchange, stage, remaining, window)

    def fail(self, exchange: Exchange, stage: str, reason: str) -> None:
        """Decide on what cannot be judged. Raises GatewayError 503 unless it may pass."""
        self._note(exchange, stage, FAILED, reason)
        if not (self.settings.passes_unjudged or self.settings.reports):
            raise unjudged_error(stage)

    def _replacements(
        self,
        exchange: Exchange,
        stage: str,
        questions: Iterable[Sequence[TextPart]],
        window: Window | None,
    ) -> Replacements:
        changes: dict[tuple[str, int], str] = {}
        for batch in questions:
            try:
                verdict = self._ask(exchange, stage, batch, window)
            except (GuardFailed, InvalidVerdict) as error:
                self.fail(exchange, stage, str(error))
                continue
            self._note(exchange, stage, verdict.action, verdict.reason)
            if verdict.action == BLOCK or (verdict.action == REDACT and not self._redacts):
                raise block_error(stage, verdict)
            if verdict.action == REDACT:
                changes |= {(part.pointer, part.offset): part.text for part in verdict.texts}
        return changes

    @property
    def _redacts(self) -> bool:
        return self.settings.mode == "redact"

    def _ask(
        self, exchange: Exchange, stage: str, parts: Sequence[TextPart], window: Window | None
    ) -> Verdict:
        """The verdict on some texts. Raises GuardFailed and InvalidVerdict."""
        body = question(exchange, stage, parts, window)
        answer = self._webhooks.post(self.settings.webhook, body, self.settings.timeout)
        return Verdict(PASS) if answer is None else read_verdict(answer, parts)

    def _report(
        self,
        exchange: Exchange,
        stage: str,
        questions: Iterable[Sequence[TextPart]],
        window: Window | None,
    ) -> None:
        """Ask in the background, and note the verdicts."""
        if self._reports >= MAX_REPORTS:
            self._webhooks.note(self.settings.name, stage, DROPPED)
            return

        def ask() -> None:
            try:
                for batch in questions:
                    verdict = self._ask(exchange, stage, batch, window)
                    self._note(exchange, stage, verdict.action, verdict.reason)
            except (GuardFailed, InvalidVerdict) as error:
                self._note(exchange, stage, FAILED, str(error))
            finally:
                self._reports -= 1

        self._reports += 1
        gevent.spawn(ask)

    def _note(self, exchange: Exchange, stage: str, verdict: str, reason: str) -> None:
        """Count and log a verdict, and note it in the record of the request."""
        name = self.settings.name
        self._webhooks.note(name, stage, verdict)
        if verdict == PASS:
            return
        exchange.record.verdicts = (*exchange.record.verdicts, f"{stage}:{verdict}")
        words = f": {reason}" if reason else ""
        line = "request %s: guard '%s' on the %s: %s%s"
        log.warning(line, exchange.request_id, name, stage, verdict, words)


def _parts(texts: Mapping[str, str], most: int) -> Iterator[TextPart]:
    """The texts, long ones in parts of at most `most` characters that end at a space where they
    have one in their second half."""
    for pointer, text in texts.items():
        at = 0
        while len(text) - at > most:
            end = text.rfind(" ", at + most // 2, at + most) + 1 or at + most
            yield TextPart(pointer, text[at:end], at)
            at = end
        yield TextPart(pointer, text[at:], at)


def batches(texts: Mapping[str, str], most: int) -> Iterator[list[TextPart]]:
    """The texts in lists of at most MAX_PARTS parts with at most `most` characters together, or one
    part."""
    batch: list[TextPart] = []
    size = 0
    for part in _parts(texts, most):
        if batch and (size + len(part.text) > most or len(batch) == MAX_PARTS):
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += len(part.text)
    if batch:
        yield batch


def join_parts(texts: Mapping[str, str], changes: Replacements, most: int) -> dict[str, str]:
    """The whole texts in which a part was replaced."""
    pointers = {pointer for pointer, _ in changes}
    result = dict.fromkeys(pointers, "")
    for part in _parts({pointer: texts[pointer] for pointer in pointers}, most):
        result[part.pointer] += changes.get((part.pointer, part.offset), part.text)
    return {pointer: text for pointer, text in result.items() if text != texts[pointer]}


def verdict_collector(counts: Mapping[tuple[str, str, str], int]) -> Collector:
    """The verdicts of this worker, by webhook, stage and verdict."""

    def collect() -> Iterator[Sample]:
        for labels, count in [*counts.items()]:
            yield VERDICTS, labels, count

    return collect
