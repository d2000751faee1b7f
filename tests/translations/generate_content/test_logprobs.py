"""The log probabilities of tokens."""

from __future__ import annotations

from engine.translations.neutral.answer import Answer
from tests.translations.generate_content.documents import (
    piece,
    read,
    text,
)


def test_log_probabilities() -> None:
    result = {
        "chosenCandidates": [
            {"token": "a", "logProbability": -0.5},
            {"token": "b", "logProbability": -1},
        ],
        "topCandidates": [{"candidates": [{"token": "a", "logProbability": -0.5}]}],
    }
    answer: Answer = read(piece(text("ab"), finish="STOP", logprobsResult=result))
    first, second = answer.candidates[0].logprobs
    assert (first.token, first.logprob, first.top) == ("a", -0.5, [("a", -0.5)])
    assert (second.token, second.logprob, second.top) == ("b", -1.0, [])
