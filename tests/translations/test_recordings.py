"""Recorded answers of real vendors hold the laws of `answer_laws`, in a share of the callers'
formats: `tox -e field` tries all of them."""

from __future__ import annotations

import pytest

from engine.translations import target_languages
from tests.support.answer_laws import FORMS, judged
from tests.support.recorded_answers import needs_answers, recorded_answers
from tests.support.thorough import share

TARGETS = [each.name for each in target_languages()]


@needs_answers
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # the SDK's own types
@pytest.mark.parametrize("target", TARGETS)
def test_a_recorded_answer_says_the_same_in_every_callers_format(target: str) -> None:
    judgement = judged(recorded_answers(target), lambda number: share(FORMS, number))
    assert judgement.problems == []
    assert judgement.carried > 20 * judgement.refusals.total()
