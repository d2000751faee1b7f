"""What a translation costs grows no faster than the size of what is translated."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pytest

from engine.translations import languages
from engine.translations.language import Language
from tests.support.growth import MOST_GROWTH, growth
from tests.support.translation_sizes import (
    ANSWER_WORKS,
    ANSWERS,
    REQUEST_WORKS,
    REQUESTS,
    SizedWork,
)

EVERY_LANGUAGE = pytest.mark.parametrize("language", languages(), ids=lambda o: o.name)


def too_fast(language: Language, work: SizedWork, kinds: Iterable[str]) -> dict[str, float]:
    growths = {kind: growth(partial(work, language, kind)) for kind in kinds}
    return {kind: rate for kind, rate in growths.items() if rate > MOST_GROWTH}


@EVERY_LANGUAGE
@pytest.mark.parametrize("work", REQUEST_WORKS)
def test_requests_cost_what_their_parts_cost(language: Language, work: SizedWork) -> None:
    assert too_fast(language, work, REQUESTS) == {}


@EVERY_LANGUAGE
@pytest.mark.parametrize("work", ANSWER_WORKS)
def test_answers_cost_what_their_parts_cost(language: Language, work: SizedWork) -> None:
    assert too_fast(language, work, ANSWERS) == {}
