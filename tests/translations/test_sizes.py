"""What a translation costs grows no faster than the size of what is translated."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pytest

from engine.translations import languages, target_language
from engine.translations.neutral.language import TargetLanguage
from tests.support.growth import MAX_GROWTH, growth
from tests.support.translation_sizes import (
    ANSWER_WORKS,
    ANSWERS,
    REQUEST_WORKS,
    REQUESTS,
    SizedWork,
    read_answer,
    read_stream,
    write_request,
)

EVERY_LANGUAGE = pytest.mark.parametrize("language", languages(), ids=lambda o: o.name)


def too_fast(language: TargetLanguage, work: SizedWork, kinds: Iterable[str]) -> dict[str, float]:
    growths = {kind: growth(partial(work, language, kind)) for kind in kinds}
    return {kind: rate for kind, rate in growths.items() if rate > MAX_GROWTH}


@EVERY_LANGUAGE
@pytest.mark.parametrize("work", REQUEST_WORKS)
def test_requests_cost_what_their_parts_cost(language: TargetLanguage, work: SizedWork) -> None:
    assert too_fast(language, work, REQUESTS) == {}


def test_a_language_of_targets_alone_costs_what_its_parts_cost() -> None:
    language = target_language("converse")
    assert too_fast(language, write_request, REQUESTS) == {}
    for work in (read_answer, read_stream):
        assert too_fast(language, work, ANSWERS) == {}


@EVERY_LANGUAGE
@pytest.mark.parametrize("work", ANSWER_WORKS)
def test_answers_cost_what_their_parts_cost(language: TargetLanguage, work: SizedWork) -> None:
    assert too_fast(language, work, ANSWERS) == {}
