"""Why an answer ended (`finishReason`), both ways."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.events import BrokenAnswer, Finish, Stop

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


def read_finish(reason: str, explanation: str, *, calls: bool, content: bool) -> Finish:
    """Why a candidate ended; `calls`: it calls a function; `content`: it has an answer besides its
    thoughts. Raises BrokenAnswer for no reason, and for one that went wrong without content."""
    if not reason:
        raise BrokenAnswer("the upstream's answer ended without a finish reason")
    stop = _STOPS.get(reason)
    if stop is None and not content:
        raise BrokenAnswer(f"the upstream's answer ended with {reason:.40} and no content")
    if calls and stop in (None, "end"):
        stop = "tool_calls"
    explanation = explanation if stop == "filter" else ""
    return Finish(stop=stop or "end", native=reason, explanation=explanation)


def write_finish(finish: Finish, *, has_refusal: bool) -> dict[str, Any]:
    """The members that say why a candidate ended; `has_refusal`: it has words of refusal."""
    reason = _REASONS.get(finish.stop, "STOP")
    if has_refusal and finish.stop == "end":
        reason = "SAFETY"
    explanation = {"finishMessage": finish.explanation} if finish.explanation else {}
    return {"finishReason": reason, **explanation}
