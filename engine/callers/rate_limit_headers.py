"""The `x-ratelimit-*` headers of some quotas, as OpenAI names them, and those of money."""

from __future__ import annotations

from collections.abc import Sequence

from engine.values.quota import KINDS
from engine.values.units import format_nano


class RateLimitHeaders:
    """The headers of some quotas, given by position, kind and amount. Money is in units of the
    currency."""

    def __init__(self, quotas: Sequence[tuple[int, str, int]]) -> None:
        self._fields: dict[str, str] = {}
        self._names: list[tuple[int, str, str]] = []
        self._money: list[tuple[int, str]] = []
        for at, kind, amount in quotas:
            name, is_money = KINDS[kind].header, KINDS[kind].money
            remaining, reset = f"x-ratelimit-remaining-{name}", f"x-ratelimit-reset-{name}"
            text = format_nano(amount) if is_money else str(amount)
            self._fields |= {f"x-ratelimit-limit-{name}": text, remaining: "", reset: ""}
            self._names.append((at, remaining, reset))
            if is_money:
                self._money.append((at, remaining))

    def render(self, remaining: Sequence[int], resets: Sequence[float]) -> dict[str, str]:
        fields = self._fields.copy()
        for at, remaining_name, reset_name in self._names:
            fields[remaining_name] = f"{remaining[at]}"
            fields[reset_name] = f"{resets[at]:.3f}s"
        for at, name in self._money:
            fields[name] = format_nano(remaining[at])
        return fields
