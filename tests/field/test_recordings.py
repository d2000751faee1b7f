"""Every recorded answer of every corpus in every caller's format, whole and streamed, holds the
laws of `answer_laws`: nothing is lost, and no SDK crashes."""

from __future__ import annotations

import pytest

from engine.translations import target_languages
from tests.support.answer_laws import FORMS, judged
from tests.support.cassettes import CASSETTES
from tests.support.recorded_answers import RECORDINGS, Corpus

CORPORA = (RECORDINGS, CASSETTES)
TARGETS = [each.name for each in target_languages()]
FOREIGN = {"recordings": 0.05, "langchain": 0.1}
"""The greatest share of refused answers: LangChain's are made to try tools that one API has."""


@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # the SDK's own types
@pytest.mark.parametrize("corpus", CORPORA, ids=lambda each: each.name)
@pytest.mark.parametrize("target", TARGETS)
def test_a_recorded_answer_says_the_same_in_every_callers_format(
    corpus: Corpus, target: str
) -> None:
    if reason := corpus.missing():
        pytest.skip(reason)
    answers = corpus.answers(target)
    if not answers:
        pytest.skip(f"no answers of {target} in {corpus.name}")
    judgement = judged(answers)
    print(f"{corpus.name}, {target}: {len(answers)} answers, {judgement.carried} carried,", end=" ")
    print(f"refused: {dict(judgement.refusals)}")
    assert judgement.problems == []
    refused = judgement.refusals.total()
    assert judgement.carried + refused == len(answers) * len(FORMS)
    assert refused <= FOREIGN[corpus.name] * len(answers) * len(FORMS)
