"""Conversion of parameters between vendors: efforts and budgets of reasoning, the token limit of an
answer, and sampling values with hardly any effect."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec
from msgspec import Raw

from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import value_of
from engine.translations.neutral.request import ChatRequest, Thinking

_Model = TypeVar("_Model")


class LimitedWriter(Generic[_Model]):
    """Writes a part of one request within the limits of a model; what is beyond them is lost."""

    def __init__(self, request: ChatRequest, model: _Model, losses: Losses) -> None:
        self._request, self._model, self._losses = request, model, losses

    def _lose(self, field: str, reason: str = "", *, hint: bool = False) -> None:
        self._losses.add(self._request.place_of(field), reason, hint=hint)


EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
"""The names of efforts in ascending order; "none" is not an effort."""

NO_REASONING = "this model does not reason"
"""Why an effort is not carried."""

_BUDGETS = dict(zip(EFFORTS, (1024, 2048, 4096, 8192, 16_384, 32_768), strict=True))


def budget_of(effort: str) -> int:
    """The budget for an effort, one of EFFORTS."""
    return _BUDGETS[effort]


def effort_of(budget: int) -> str:
    """The effort for a budget: the highest one whose budget is not larger."""
    enough = [effort for effort, tokens in _BUDGETS.items() if tokens <= budget]
    return enough[-1] if enough else EFFORTS[0]


def nearest_effort(effort: str, efforts: tuple[str, ...]) -> str:
    """The same effort, one of EFFORTS, out of `efforts` (not empty, ascending), else the next lower
    one, else the lowest."""
    rank = EFFORTS.index(effort)
    below = [each for each in efforts if EFFORTS.index(each) <= rank]
    return below[-1] if below else efforts[0]


def unknown_effort(effort: str) -> str:
    """Why a word for an effort is not carried: what it means here would be a guess."""
    return f"'{effort[:40]}' is none of {', '.join(EFFORTS)}"


def known_thinking(request: ChatRequest, losses: Losses) -> Thinking | None:
    """The amount of reasoning, without an effort in a word that is not known, which is lost; None
    where nothing is left of it."""
    thinking = request.thinking
    if thinking is None or thinking.off or thinking.effort in ("", "none", *EFFORTS):
        return thinking
    losses.add(request.place_of("thinking"), unknown_effort(thinking.effort))
    rest = msgspec.structs.replace(thinking, effort="")
    return rest if rest.adaptive or rest.budget is not None else None


def with_token_limit(request: ChatRequest, limit: int | None, losses: Losses) -> ChatRequest:
    """The request with `max_tokens` reduced to the model's `limit`, None if that is unknown.

    Agents ask for the limit of their own vendor's models, and vendors refuse a limit above their
    model's. The reduction changes no answer, because the model could not write more anyway.
    """
    if limit is None or request.max_tokens is None or request.max_tokens <= limit:
        return request
    losses.add(request.place_of("max_tokens"), f"the model writes at most {limit}", hint=True)
    return msgspec.structs.replace(request, max_tokens=limit)


_NUMBER = msgspec.json.Decoder(float)
_WIDE = {"top_k": 40, "top_p": 0.95}
"""The smallest of the vendors' defaults, which SDKs and agents send by themselves."""


def number(value: Raw | None) -> float | None:
    """A parameter's number, None for anything else."""
    return None if value is None else value_of(_NUMBER, value)


def is_wide(name: str, value: Raw | None) -> bool:
    """Whether a `top_k` or `top_p` has hardly any effect: it is a vendor's default or larger."""
    limit = number(value)
    return limit is not None and limit >= _WIDE[name]
