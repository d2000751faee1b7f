"""The events of answers, and what ends them early."""

from __future__ import annotations

from engine.translations.neutral.events import BrokenAnswer, UpstreamError, uncarried


def test_words_of_an_upstream_are_bounded() -> None:
    assert len(str(BrokenAnswer("x" * 1_000))) == 300
    error = UpstreamError(500, "m" * 9_000, "c" * 9_000)
    assert (len(error.message), len(error.code)) == (4_000, 300)
    assert len(str(uncarried("x" * 1_000))) < 200
