"""Recorded answers of real vendors, whole and streamed, in every caller's format, whole and
streamed: nothing of them is lost or changed, and the official SDKs accept them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from engine.translations import languages, target_languages
from engine.translations.neutral.events import BrokenAnswer
from tests.support.recorded_answers import (
    RecordedAnswer,
    Saying,
    needs_answers,
    recorded_answers,
    saying,
    saying_of,
)
from tests.support.sdk_accumulators import as_sdk
from tests.support.thorough import share
from tests.support.translations import translated

FORMS = list(itertools.product([each.name for each in languages()], (False, True)))
"""Each caller's language, in one piece and as a stream."""

REFUSALS = (
    "the upstream's answer ended with the status 'queued'",
    "the upstream's answer ended with the status 'complete'",
    "the upstream's answer is not in its format: 'the JSON text' must be an object",
)
"""What is no answer: one that was not waited for, one that another program made up, and no JSON."""

SAYS_CALLS = ("chat_completions", "messages")
"""Languages whose finish reasons say that there are calls."""

TARGETS = [each.name for each in target_languages()]


def _differences(caller: str, expected: Saying, found: Saying) -> Iterator[str]:
    """What an answer in a caller's format lacks or changes of what the vendor said."""
    if found.calls != expected.calls:
        yield f"calls: {found.calls} instead of {expected.calls}"
    if not found.text.startswith(expected.text) or (
        found.text != expected.text and found.stop != "other"  # a filter explains itself
    ):
        yield f"text: {found.text!r} instead of {expected.text!r}"
    stops = ("tools",) if found.calls else ("end",)
    if caller in SAYS_CALLS and found.stop not in (*stops, "length", "other"):
        yield f"the stop '{found.stop}' beside {len(found.calls)} calls"
    if expected.stop == "length" and found.stop not in ("length", "end"):
        yield f"the stop '{found.stop}' of an answer that was cut"
    if found.urls != expected.urls:
        yield f"citations: {found.urls} instead of {expected.urls}"
    for start, end in found.spans:
        if not 0 <= start < end <= len(found.text):
            yield f"a citation of {start} to {end} in {len(found.text)} characters"


def _problems(answer: RecordedAnswer, caller: str, *, stream: bool) -> list[str]:
    """The broken laws of one translation. Raises BrokenAnswer if the answer is refused, and what
    the SDK raises."""
    output = translated(
        answer.documents, caller, answer.language, from_stream=answer.is_stream, stream=stream
    )
    documents = as_sdk(caller, output, stream=stream)
    return list(_differences(caller, saying(answer), saying_of(caller, documents)))


@needs_answers
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # the SDK's own types
@pytest.mark.parametrize("target", TARGETS)
def test_a_recorded_answer_says_the_same_in_every_callers_format(target: str) -> None:
    problems: list[str] = []
    refusals: Counter[str] = Counter()
    carried = 0
    for number, answer in enumerate(recorded_answers(target)):
        for caller, stream in share(FORMS, number):
            try:
                found = _problems(answer, caller, stream=stream)
            except BrokenAnswer as error:
                refusals[str(error)] += 1
                continue
            except Exception as error:
                error.add_note(f"{answer.id} for {caller}, stream={stream}")
                raise
            carried += 1
            problems += [f"{answer.id} for {caller}, stream={stream}: {each}" for each in found]
    assert problems == []
    assert set(refusals) <= set(REFUSALS)
    assert carried > 20 * refusals.total()
