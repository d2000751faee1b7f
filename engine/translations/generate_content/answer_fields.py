"""Fields of answers, both ways: why an answer ended (`finishReason`), its tokens (`usageMetadata`)
and their log probabilities (`logprobsResult`); and errors (google.rpc.Status)."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.events import (
    BrokenAnswer,
    Finish,
    Stop,
    TokenLogprob,
    UpstreamError,
)
from engine.translations.neutral.members import Members
from engine.translations.upstream_errors import AnswerErrors, error_members, error_of
from engine.values.usage import Usage

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


_KEY_REASONS = ("API_KEY_INVALID", "API_KEY_EXPIRED")


def read_error(status: int, document: Any) -> UpstreamError:
    """The error in an error response; `document` is its JSON, None for none."""
    error = error_of(status, document, ("status",))
    error.code = error.code.lower()
    details = error_members(document).get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and detail.get("reason") in _KEY_REASONS:
            error.status = 401
    return error


ERRORS = AnswerErrors("gemini", read_error)
