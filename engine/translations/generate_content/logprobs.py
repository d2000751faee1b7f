"""The log probabilities of tokens (`logprobsResult`), both ways."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.events import TokenLogprob
from engine.translations.neutral.members import Members


def read_logprobs(candidate: Members) -> list[TokenLogprob]:
    """Those of a candidate, empty for none."""
    result = candidate.members("logprobsResult")
    if result is None:
        return []
    tops = [
        [_read_token(each) for each in top.objects("candidates")]
        for top in result.objects("topCandidates")
    ]
    tokens = [_read_token(each) for each in result.objects("chosenCandidates")]
    tops += [[]] * (len(tokens) - len(tops))
    return [TokenLogprob(*token, top) for token, top in zip(tokens, tops, strict=False)]


def _read_token(entry: Members) -> tuple[str, float]:
    return entry.text("token") or "", entry.number("logProbability") or 0.0


def write_logprobs(tokens: list[TokenLogprob]) -> dict[str, Any]:
    """The member of a candidate, none without tokens."""
    if not tokens:
        return {}
    tops = [[_write_token(token, logprob) for token, logprob in each.top] for each in tokens]
    return {
        "logprobsResult": {
            "topCandidates": [{"candidates": top} for top in tops],
            "chosenCandidates": [_write_token(each.token, each.logprob) for each in tokens],
        }
    }


def _write_token(token: str, logprob: float) -> dict[str, Any]:
    return {"token": token, "logProbability": logprob}
