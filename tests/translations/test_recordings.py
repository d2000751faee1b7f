"""Recorded answers of real vendors hold the laws of `answer_laws`, in a share of the callers'
formats: `tox -e field` tries all of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from engine.translations import target_languages
from tests.support.answer_laws import FORMS, judged
from tests.support.recorded_answers import RecordedAnswer, needs_answers, recorded_answers
from tests.support.refusal_table import refusal_name
from tests.support.thorough import share

TARGETS = [each.name for each in target_languages()]


@needs_answers
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # the SDK's own types
@pytest.mark.parametrize("target", TARGETS)
def test_a_recorded_answer_says_the_same_in_every_callers_format(target: str) -> None:
    judgement = judged(recorded_answers(target), lambda number: share(FORMS, number))
    assert judgement.problems == []
    assert judgement.carried > 20 * judgement.refusals.total()


_CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}
ANSWER: Any = {
    "id": "c",
    "model": "m",
    "choices": [{"message": {"content": "Hi", "tool_calls": [_CALL]}, "finish_reason": "length"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}
CHANGES: dict[str, Callable[[Any], object]] = {
    "text": lambda choice: choice["message"].update(content="Ho"),
    "calls": lambda choice: choice["message"].update(tool_calls=[_CALL, _CALL]),
    "the stop": lambda choice: choice.update(finish_reason="content_filter"),
    "citations": lambda choice: choice["message"].update(
        annotations=[{"type": "url_citation", "url_citation": {"url": "https://a"}}]
    ),
}
"""What an answer may lose on its way, by the law that is broken."""


def _lost(change: Callable[[Any], object]) -> RecordedAnswer:
    """An answer whose vendor said something else than what comes."""
    original = copy.deepcopy(ANSWER)
    change(original["choices"][0])
    body = json.dumps(ANSWER).encode()
    documents = [json.dumps(original).encode()]
    return RecordedAnswer("a", "chat_completions", is_stream=False, body=body, documents=documents)


@pytest.mark.parametrize("law", CHANGES)
def test_what_is_lost_breaks_a_law_in_every_format(law: str) -> None:
    problems = judged([_lost(CHANGES[law])]).problems
    assert len(problems) == len(FORMS)
    assert all(f": {law}" in each for each in problems)


def test_an_answer_as_it_came_breaks_no_law() -> None:
    judgement = judged([_lost(lambda choice: None)])
    assert (judgement.problems, judgement.carried) == ([], len(FORMS))


def test_a_refusal_has_the_name_that_the_manual_lists() -> None:
    assert refusal_name("the upstream's answer ended with the status 'queued'") == (
        "ended with the status"
    )
    assert refusal_name("the upstream's answer is odd") == ""
