"""GuardCalls that answer what a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

Answer = dict[str, Any] | Exception | Callable[[Any], dict[str, Any]]


class PlayedGuards:
    """Answers each question with the next of `answers`: JSON, an exception that is raised, or a
    function of the question. `questions` are those asked, `noted` the verdicts counted."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = iter(answers)
        self.questions: list[bytes] = []
        self.noted: list[tuple[str, str, str]] = []

    def post(self, webhook: str, body: bytes, timeout: float) -> bytes:
        self.questions.append(body)
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return json.dumps(answer(json.loads(body)) if callable(answer) else answer).encode()

    def note(self, webhook: str, stage: str, verdict: str) -> None:
        self.noted.append((webhook, stage, verdict))
