"""How parameters of different vendors compare: efforts and budgets of reasoning, the most tokens of
an answer, and values of sampling that hardly bind."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
"""The words, the least first; "none" is no effort."""

_BUDGETS = dict(zip(EFFORTS, (1024, 2048, 4096, 8192, 16_384, 32_768), strict=True))


def budget_of(effort: str) -> int:
    """The budget for an effort, that of "medium" for an unknown word."""
    return _BUDGETS.get(effort, _BUDGETS["medium"])


def effort_of(budget: int) -> str:
    """The effort for a budget: the highest that the budget is enough for."""
    enough = [effort for effort, tokens in _BUDGETS.items() if tokens <= budget]
    return enough[-1] if enough else EFFORTS[0]


def nearest_effort(effort: str, efforts: tuple[str, ...]) -> str:
    """The effort out of `efforts` (not empty, the least first) for this one: the same, or the next
    one below."""
    rank = EFFORTS.index(effort) if effort in EFFORTS else EFFORTS.index("medium")
    below = [each for each in efforts if EFFORTS.index(each) <= rank]
    return below[-1] if below else efforts[0]


def with_token_limit(request: ChatRequest, most: int | None, losses: Losses) -> ChatRequest:
    """The request with a limit that the model accepts; `most` is None where it is not known.

    Agents ask for as much as the models of their own vendor can write, and vendors refuse a limit
    above their model's. The model could not write more in either case.
    """
    if most is None or request.max_tokens is None or request.max_tokens <= most:
        return request
    losses.add(request.place_of("max_tokens"), f"the model writes at most {most}", hint=True)
    return msgspec.structs.replace(request, max_tokens=most)


_NUMBER = msgspec.json.Decoder(float)
_WIDE = {"top_k": 40, "top_p": 0.95}
"""The smallest of the vendors' own defaults, which SDKs and agents send without being told to."""


def number(value: Raw | None) -> float | None:
    """A parameter's number, None for anything else."""
    if value is None:
        return None
    try:
        return _NUMBER.decode(value)
    except msgspec.DecodeError:
        return None


def is_wide(name: str, value: Raw | None) -> bool:
    """Whether a `top_k` or `top_p` leaves nearly every token to choose from: as much as a vendor
    leaves by itself, or more."""
    limit = number(value)
    return limit is not None and limit >= _WIDE[name]
