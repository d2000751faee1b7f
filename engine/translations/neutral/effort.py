"""Efforts and budgets of reasoning: some vendors count tokens, others have words."""

from __future__ import annotations

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
