"""How much somebody may use: `60/1m`, `1000000/1d`, `20 USD/30d`, `10`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from engine.values import units
from engine.values.usage import NANO

COUNT = r"^[1-9][0-9]{0,14}/[0-9]{1,9}(\.[0-9]{1,9})?(s|m|h|d)$"
MONEY = r"^[0-9]{1,9}(\.[0-9]{1,9})? [A-Z]{3}/[0-9]{1,9}(\.[0-9]{1,9})?(s|m|h|d)$"

BY = {
    "description": "Who shares it: each token (default), route, model or upstream, or all.",
    "type": "string",
    "enum": ["token", "route", "model", "upstream", "all"],
    "default": "token",
}
"""The schema of who shares an allowance. On a route without tokens, `token` means an address."""


AMOUNT = {"type": "integer", "minimum": 1, "maximum": 999_999_999_999_999}
"""The schema of an amount: as many digits as COUNT takes."""

PER = {"type": "string", "pattern": units.TIME}
"""The schema of the time in which an amount counts."""


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `amount` within any `window` seconds.

    `kind` is `requests`, `tokens`, `spend` (nano-units of money) or `concurrency` (at one time;
    its window is 0).
    """

    kind: str
    amount: int
    window: float = 0.0


@dataclass(frozen=True, slots=True)
class Rule:
    """An allowance, who shares it (see BY), and the name it is counted under."""

    allowance: Quota
    by: str
    name: str


def count(kind: str, text: str) -> Quota:
    """`"60/1m"` as an allowance of requests or tokens. ValueError for what COUNT does not match."""
    if not re.fullmatch(COUNT, text):
        raise ValueError(f"'{text}' is not an amount per time like 60/1m")
    amount, _, window = text.partition("/")
    return _positive(Quota(kind, int(amount), units.seconds(window)), text)


def money(text: str, currency: str) -> Quota:
    """`"20 USD/30d"` as an allowance of money. ValueError for another currency or form."""
    if not re.fullmatch(MONEY, text):
        raise ValueError(f"'{text}' is not money per time like 20 USD/30d")
    said, _, window = text.partition("/")
    amount, _, unit = said.partition(" ")
    if unit != currency:
        raise ValueError(f"'{text}' is in {unit}, but prices are in {currency}")
    nanos = int(Decimal(amount) * NANO)
    return _positive(Quota("spend", nanos, units.seconds(window)), text)


def _positive(allowance: Quota, text: str) -> Quota:
    if allowance.window <= 0:
        raise ValueError(f"'{text}' has no time in which it counts")
    return allowance
