"""Comparing what was counted with what is on record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LIMIT = 0.05


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to say of one figure, and whether it may pass."""

    text: str
    good: bool


def judge(name: str, recorded: float, now: float) -> Verdict:
    """A figure beside the one on record: it may grow by 5 %."""
    change = now / recorded - 1
    text = f"{name}: {now:,.0f}, on record {recorded:,.0f} ({change:+.1%})"
    grew = now > recorded * (1 + LIMIT)
    if grew:
        text += f": more than {LIMIT:.0%}. Mend it, or say why and renew the record with --write"
    elif change < -LIMIT:
        text += ": renew the record with --write, or it hides the next growth"
    return Verdict(text, not grew)


def judge_all(recorded: Mapping[str, float], now: Mapping[str, float]) -> list[Verdict]:
    return [judge(f"bytecodes per {unit}", recorded[unit], now[unit]) for unit in recorded]
