"""The shapes of answers, under the names of the vendor's document, and fields of them, both ways;
errors (google.rpc.Status).

What is read seldom is left as it came (`Raw`), and so are the parts of a kind not known here.
"""

from __future__ import annotations

import re

from msgspec import Raw, Struct

from engine.translations.generate_content.part_fields import Fields
from engine.translations.neutral import events
from engine.translations.neutral.answer_json import Shape
from engine.translations.neutral.json_members import ITEMS, NULL, Members, encode
from engine.translations.neutral.refusals import AnswerErrors, error_members, error_of
from engine.values.trees import Json
from engine.values.usage import Usage


class Call(Struct, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: Raw = NULL
    partial_args: list[Raw] | None = None
    will_continue: bool | None = None


class Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: Call | None = None
    inline_data: Raw = NULL
    file_data: Raw = NULL


class Content(Struct):
    parts: list[Part] | None = None


class Candidate(Struct, rename="camel"):
    index: int | None = None
    content: Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None
    logprobs_result: Raw = Raw()
    grounding_metadata: Raw = Raw()
    citation_metadata: Raw = Raw()


class Feedback(Struct, rename="camel"):
    block_reason: str | None = None


class Answer(Struct, rename="camel"):
    candidates: list[Candidate] | None = None
    prompt_feedback: Feedback | None = None
    error: Raw = Raw()


class Head(Struct, rename="camel"):
    response_id: str | None = None
    model_version: str | None = None


_OPTIONAL = (
    *("id", "responseId", "modelVersion", "finishMessage", "promptFeedback"),
    *("thoughtSignature", "error"),
)

ANSWER = Shape(Answer, _OPTIONAL, parts=("parts",))
HEAD = Shape(Head, _OPTIONAL)

_INSIDE = ("candidates", "content", "parts", "functionCall", "promptFeedback")
_SHAPES = (Call, Part, Candidate, Feedback, Answer, Head)
_SNAKE_NAMES = [
    name
    for shape in _SHAPES
    for name in shape.__struct_fields__
    if name not in shape.__struct_encode_fields__
]
_SNAKE_NAME = re.compile(rb'"(?:%b)"\s*:' % "|".join(_SNAKE_NAMES).encode())


def documented(text: bytes) -> bytes:
    """An answer with its members under the documented names: Protocol Buffers' JSON allows snake
    case too (`finish_reason`). Raises WrongType."""
    if _SNAKE_NAME.search(text) is None:
        return text
    return encode(_documented(Raw(text.strip())))


def _documented(raw: Raw) -> object:
    begin = bytes(memoryview(raw)[:1])
    if begin == b"[":
        return [_documented(item) for item in ITEMS.decode(raw)]
    if begin != b"{":
        return raw
    members = Fields(raw).copy()
    return {
        name: _documented(members[name]) if name in _INSIDE else members[name] for name in members
    }


_STOPS: dict[str, events.Stop] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "2": "length",  # enumerations may come as their numbers
    "CONTINUATION": "length",
    **dict.fromkeys(
        (
            *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
            *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"),
            *("ESCALATION", "PUP_LIMITED_DISABLED", "3", "4", "6", "7", "8"),
        ),
        "filter",
    ),
}
"""Every other reason says that something went wrong, as MALFORMED_FUNCTION_CALL does."""

_REASONS: dict[events.Stop, str] = {"length": "MAX_TOKENS", "filter": "SAFETY"}


def read_finish(reason: str, explanation: str, *, content: bool) -> events.Finish:
    """Why a candidate ended; `content`: it has an answer besides its thoughts. Raises BrokenAnswer
    for no reason, and for one that went wrong without content."""
    if not reason:
        raise events.BrokenAnswer("the upstream's answer ended without a finish reason")
    stop = _STOPS.get(reason.upper()) or events.foreign_stop(reason)
    if stop is None and not content:
        raise events.BrokenAnswer(f"the upstream's answer ended with {reason:.40} and no content")
    explanation = explanation if stop == "filter" else ""
    return events.Finish(stop=stop or "end", native=reason, explanation=explanation)


def write_finish(finish: events.Finish, *, has_refusal: bool) -> Json:
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


def read_logprobs(candidate: Members) -> list[events.TokenLogprob]:
    if (result := candidate.members("logprobsResult")) is None:
        return []
    tops = [
        [_read_token(each) for each in top.objects("candidates")]
        for top in result.objects("topCandidates")
    ]
    tokens = [_read_token(each) for each in result.objects("chosenCandidates")]
    tops += [[]] * (len(tokens) - len(tops))
    return [events.TokenLogprob(*token, top) for token, top in zip(tokens, tops, strict=False)]


def _read_token(entry: Members) -> tuple[str, float]:
    return entry.text("token") or "", entry.number("logProbability") or 0.0


def write_logprobs(tokens: list[events.TokenLogprob]) -> Json:
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


def _write_token(token: str, logprob: float) -> Json:
    return {"token": token, "logProbability": logprob}


_KEY_REASONS = ("API_KEY_INVALID", "API_KEY_EXPIRED")


def read_error(status: int, document: object) -> events.UpstreamError:
    error = error_of(status, document, ("status",))
    error.code = error.code.lower()
    details = error_members(document).get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and detail.get("reason") in _KEY_REASONS:
            error.status = 401
    return error


ERRORS = AnswerErrors("gemini", read_error)
