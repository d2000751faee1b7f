"""What OpenAI's models accept, by their names. Other vendors' models take what most accept."""

from __future__ import annotations

from engine.translations.neutral.effort import effort_of, nearest_effort
from engine.translations.neutral.request import Thinking
from engine.values.wildcard import Patterns

_REASON = Patterns(("o1*", "o3*", "o4*", "gpt-5*", "gpt-oss*", "codex-*", "computer-use-*"))
_DO_NOT_REASON = Patterns(("gpt-4*", "gpt-3*", "chatgpt-*", "gpt-5-chat*", "gpt-5.*-chat*"))
_EFFORTS = ("minimal", "low", "medium", "high")
"""The efforts that every reasoning model has."""

_CAN_TURN_IT_OFF = Patterns(("gpt-5.*",))


def limit_field(model: str) -> str:
    """The field that limits the answer: the older one unless the model refuses it."""
    return "max_completion_tokens" if _REASON.match(model) else "max_tokens"


def reasoning_effort(thinking: Thinking | None, model: str) -> tuple[str | None, bool]:
    """`reasoning_effort` for a model (None: leave it out), and whether the wish is carried."""
    if thinking is None:
        return None, True
    if _DO_NOT_REASON.match(model):
        return None, thinking.off
    if thinking.off:
        if not _REASON.match(model):
            return None, True
        return ("none" if _CAN_TURN_IT_OFF.match(model) else "minimal"), True
    if thinking.effort:
        return thinking.effort, True
    if thinking.budget is None:
        return None, True  # as the model likes
    return nearest_effort(effort_of(thinking.budget), _EFFORTS), True
