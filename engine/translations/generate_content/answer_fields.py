"""Fields of answers, both ways: why an answer ended (`finishReason`), its tokens (`usageMetadata`)
and their log probabilities (`logprobsResult`)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.neutral.content import Extra
from engine.translations.neutral.events import BrokenAnswer, Finish, Stop, TokenLogprob, Usage
from engine.translations.neutral.members import Members
from engine.translations.neutral.shapes import read_shape

_STOPS: dict[str, Stop] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    **dict.fromkeys(
        (
            *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
            *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"),
            *("ESCALATION", "PUP_LIMITED_DISABLED"),
        ),
        "filter",
    ),
}
"""Every other reason says that something went wrong, as MALFORMED_FUNCTION_CALL does."""

_REASONS: dict[Stop, str] = {"length": "MAX_TOKENS", "filter": "SAFETY"}


def read_finish(reason: str, explanation: str, *, content: bool) -> Finish:
    """Why a candidate ended; `content`: it has an answer besides its thoughts. Raises BrokenAnswer
    for no reason, and for one that went wrong without content."""
    if not reason:
        raise BrokenAnswer("the upstream's answer ended without a finish reason")
    stop = _STOPS.get(reason)
    if stop is None and not content:
        raise BrokenAnswer(f"the upstream's answer ended with {reason:.40} and no content")
    explanation = explanation if stop == "filter" else ""
    return Finish(stop=stop or "end", native=reason, explanation=explanation)


def write_finish(finish: Finish, *, has_refusal: bool) -> dict[str, Any]:
    """The members that say why a candidate ended; `has_refusal`: it has words of refusal."""
    reason = _REASONS.get(finish.stop, "STOP")
    if has_refusal and finish.stop == "end":
        reason = "SAFETY"
    explanation = {"finishMessage": finish.explanation} if finish.explanation else {}
    return {"finishReason": reason, **explanation}


class Counts(Struct, rename="camel"):
    """`usageMetadata`."""

    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    total_token_count: int | None = None


_COUNTS = Decoder(Counts)
_NO_COUNTS = Counts()
_MOST = 32
"""Counts that are kept before those that say nothing are forgotten."""

_NULL = Raw(b"null")


class UsageReader:
    """The usage of an answer. Each event of a stream reports the sums so far; the last report of
    each count is the one that is true."""

    def __init__(self) -> None:
        self._reports: Extra = {}
        self._usage: Usage | None = None
        self._is_counted = True

    def read(self, report: Extra) -> None:
        """Take the next report: `usageMetadata`."""
        self._is_counted = False
        if _NULL in report.values():
            report = {name: count for name, count in report.items() if count != _NULL}
        self._reports |= report
        if len(self._reports) > _MOST:
            order = Counts.__struct_encode_fields__
            self._reports = {name: self._reports[name] for name in order if name in self._reports}

    def usage(self) -> Usage | None:
        """The usage so far, None if nothing was reported. Raises WrongType."""
        if not self._is_counted:
            self._usage, self._is_counted = self._count(), True
        return self._usage

    def _count(self) -> Usage | None:
        """The candidates' count leaves thoughts out, unless the total shows that it has them."""
        counts = read_shape(_COUNTS, msgspec.json.encode(self._reports), "usageMetadata")
        if counts == _NO_COUNTS:
            return None
        prompt = max(counts.prompt_token_count or 0, 0)
        prompt += max(counts.tool_use_prompt_token_count or 0, 0)
        output = max(counts.candidates_token_count or 0, 0)
        thoughts = max(counts.thoughts_token_count or 0, 0)
        total = max(counts.total_token_count or 0, 0)
        if thoughts and (not total or total > prompt + output):
            output += thoughts
        return Usage(
            input=prompt,
            output=output,
            cached=min(max(counts.cached_content_token_count or 0, 0), prompt),
            reasoning=min(thoughts, output),
        )


def write_usage(usage: Usage | None) -> dict[str, dict[str, int]]:
    """The member of an answer, none without usage."""
    if usage is None:
        return {}
    counts = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": max(usage.output - usage.reasoning, 0),
        "totalTokenCount": usage.input + usage.output,
    }
    if usage.cached:
        counts["cachedContentTokenCount"] = usage.cached
    if usage.reasoning:
        counts["thoughtsTokenCount"] = usage.reasoning
    return {"usageMetadata": counts}


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
