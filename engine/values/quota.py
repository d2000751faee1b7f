"""Quotas: `60/1m`, `1000000/day`, `20 USD/month in Europe/Vienna`, `10`; and the table of their
kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.values.quota_sharers import Sharing
from engine.values.quota_window import WINDOW, Window, read_window, window_of
from engine.values.usage import NANO, Usage

COUNT = rf"^[1-9][0-9]{{0,14}}/{WINDOW}$"
MONEY = rf"^[0-9]{{1,9}}(\.[0-9]{{1,9}})? [A-Z]{{3}}/{WINDOW}$"

AMOUNT = {
    "type": "integer",
    "minimum": 1,
    "maximum": 999_999_999_999_999,
    "x-modelway": {"synonyms": ["limit", "count", "max"]},
}
"""The schema of an amount: as many digits as COUNT takes."""


class QuotaKind(Struct, frozen=True):
    """What a quota counts, how it is reported, and how a request beyond it is refused.

    `unit` names an amount for people. A request counts as `cost(usage, price_nano)`, first with its
    estimated usage and price (nano-units of money), after it ended with the real ones; without
    `cost` it counts as 1. `at_one_time`: a request gives its amount back when it ends; there is no
    window. `money`: the amount is nano-units of money. `header` is the end of the names of the
    `x-ratelimit-*` that show it, "" if none do. `code` and `status` are those of the refusal.
    """

    unit: str
    code: str
    status: int = 429
    cost: Callable[[Usage, int], int] | None = None
    at_one_time: bool = False
    money: bool = False
    header: str = ""


KINDS = {
    "requests": QuotaKind("requests", "rate_limit_exceeded", header="requests"),
    "tokens": QuotaKind(
        "tokens",
        "token_budget_exceeded",
        cost=lambda usage, price_nano: usage.input + usage.output,
        header="tokens",
    ),
    "spend": QuotaKind(
        "money",
        "budget_exceeded",
        402,
        cost=lambda usage, price_nano: price_nano,
        money=True,
        header="budget",
    ),
    "concurrency": QuotaKind(
        "requests at one time", "concurrency_limit_exceeded", at_one_time=True
    ),
}
"""Every kind of quota by its name. Counting, refusals, headers, `explain`, `check` and `diff` read
this table; a quota of another kind cannot be made."""


class Quota(Struct, frozen=True):
    """At most `amount` within any `window` seconds, or in each window of a calendar. `warn_at` are
    the percentages of it at which a warning is written, ascending. Raises ValueError for a `kind`
    that is not in KINDS."""

    kind: str
    amount: int
    window: Window = 0.0
    warn_at: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            kinds = ", ".join(KINDS)
            raise ValueError(f"'{self.kind}' is not a kind of quota; the kinds are {kinds}")


class QuotaRule(Struct, frozen=True):
    """A quota, its sharers, and the name under which it is counted."""

    quota: Quota
    by: Sharing
    name: str


def depends_on_model(quota: Quota, by: Sharing) -> bool:
    """Whether the model of a request, or its body, decides what it takes of a quota, or who shares
    that; of the others the head of the request decides."""
    return by.depends_on_model or KINDS[quota.kind].cost is not None


def amount_text(kind: QuotaKind, amount: int) -> str:
    """An amount for people, without its unit; of money, not in nano-units."""
    return f"{amount / NANO:g}" if kind.money else str(amount)


def unit_text(kind: QuotaKind, currency: str) -> str:
    """The unit for people: `requests`, `USD`."""
    return currency if kind.money else kind.unit


TOKEN_FIELDS = {
    "rate": "requests",
    "token_budget": "tokens",
    "budget": "spend",
    "concurrency": "concurrency",
}
"""The fields of a token's own quotas, in gateway.yaml and in the database, with their kinds."""


@lru_cache(1_000)
def token_quota(
    field: str, value: str | int, currency: str, warn_at: tuple[int, ...] = ()
) -> Quota:
    """The quota in one of TOKEN_FIELDS: `60/1m`, `20 USD/30d`, 10. ValueError for a wrong value.
    Tokens with equal ones share it. Without a window it has no warnings."""
    kind = TOKEN_FIELDS[field]
    if KINDS[kind].at_one_time:
        return Quota(kind, int(value))
    quota = money(str(value), currency) if KINDS[kind].money else count(kind, str(value))
    return replace(quota, warn_at=warn_at)


def percentages(texts: Iterable[str]) -> tuple[int, ...]:
    """The percentages of `warn_at`, which matches WARN_AT, ascending and each once."""
    return tuple(sorted({int(text.removesuffix("%")) for text in texts}))


def policy_quota(kind: str, amount: int, options: Mapping[str, Any]) -> Quota:
    """The quota of a policy, with the window and the warnings in its options (see WINDOW_KEYS).
    Raises ValueError as `window_of` does."""
    return Quota(kind, amount, window_of(options), percentages(options.get("warn_at", ())))


def count(kind: str, text: str) -> Quota:
    """`"60/1m"` as a quota of requests or tokens. ValueError for what COUNT does not match."""
    if not re.fullmatch(COUNT, text):
        raise ValueError(f"'{text}' is not an amount per time like 60/1m or 1000/day")
    amount, _, window = text.partition("/")
    return _positive(Quota(kind, int(amount), read_window(window)), text)


def money(text: str, currency: str) -> Quota:
    """`"20 USD/30d"` as a quota of money. ValueError for another currency or form."""
    if not re.fullmatch(MONEY, text):
        raise ValueError(f"'{text}' is not money per time like 20 USD/30d or 20 USD/month")
    price, _, window = text.partition("/")
    amount, _, unit = price.partition(" ")
    if unit != currency:
        raise ValueError(f"'{text}' is in {unit}, but prices are in {currency}")
    return _positive(Quota("spend", int(Decimal(amount) * NANO), read_window(window)), text)


def _positive(quota: Quota, text: str) -> Quota:
    if quota.window == 0:
        raise ValueError(f"'{text}' has a window of 0 seconds")
    return quota
