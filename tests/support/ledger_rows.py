"""Rows of a ledger as many gateways would leave them, and their totals, added up in Python."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo

from msgspec.structs import replace

from engine.stores.database.schema import SUMMED_COUNTS
from engine.stores.database.sums import UsageFilter
from engine.stores.database.totals import ROW_KINDS, Total
from engine.stores.ledger_entry import Entry
from engine.values.usage import Usage

_KEYS = {"model": "model_asked", "served": "model_served"}


def random_rows(count: int, since: float, until: float, seed: int = 1) -> list[Entry]:
    """Rows at any time in a range, some of them exactly at the beginning of an hour."""
    dice = random.Random(seed)
    return [_row(number, dice, since, until) for number in range(count)]


def expected_totals(
    rows: Iterable[Entry], by: str, where: UsageFilter, time_zone: tzinfo = UTC
) -> dict[str, Total]:
    """What `totals` returns for these rows, by the key; averages are left out."""
    sums: dict[str, Total] = {}
    for row in rows:
        if not where.since <= row.time < where.until:
            continue
        if where.token not in ("", row.token):
            continue
        if where.model not in ("", row.model_asked, row.model_served):
            continue
        if where.client not in ("", row.client) or where.session not in ("", row.session):
            continue
        if where.via not in ("", row.via):
            continue
        if by == "day":
            key = datetime.fromtimestamp(row.time, time_zone).date().isoformat()
        elif by == "client_version":
            key = f"{row.client}/{row.client_version}"
        else:
            key = str(getattr(row, _KEYS.get(by, by)))
        total, empty = _total(row), Total(key)
        if by in ROW_KINDS:
            total = replace(total, first=row.time, last=row.time + row.duration)
        if by == "session":
            empty = replace(empty, token=row.token, client=row.client)
            key = f"{key}/{row.token}/{row.client}"
        sums[key] = sums.get(key, empty) + total
    return {key: total for key, total in sums.items() if total.requests or total.cost}


def without_average(totals: Sequence[Total]) -> dict[str, Total]:
    """Totals by their key, without the sums of seconds, which are not exact."""
    return {
        "/".join((total.key, total.token, total.client)).rstrip("/"): total
        + Total(first_byte_sum=-total.first_byte_sum)
        for total in totals
    }


def _total(row: Entry) -> Total:
    is_request = row.outcome != "cancelled"
    failed = row.outcome not in ("caller_left", "cancelled") and (
        row.outcome != "complete" or row.status >= 400
    )
    return Total(
        requests=int(is_request),
        failed=int(failed),
        usage=Usage(**{name: getattr(row, name) for name in SUMMED_COUNTS}),
        cost={row.currency: row.cost} if row.cost or row.margin else {},
        vendor_cost={row.currency: row.cost - row.margin} if row.cost or row.margin else {},
        first_byte_count=int(row.first_byte is not None),
    )


def _row(number: int, dice: random.Random, since: float, until: float) -> Entry:
    time = dice.uniform(since, until)
    if dice.random() < 0.2:
        time = time // 900 * 900
    model = dice.randrange(4)
    return Entry(
        id=f"req_{number}",
        time=time,
        token=f"token {dice.randrange(5)}",
        team=f"team {dice.randrange(2)}",
        client=dice.choice(["claude", "codex"]),
        client_version=dice.choice(["1", "2"]),
        session=f"session {number % 30}",
        via=dice.choice(["", "", "mcp"]),
        duration=float(dice.randrange(60)),
        operation=dice.choice(["openai.createChatCompletion", "openai.createEmbedding"]),
        model_asked=f"model '{model}'",
        model_served=dice.choice(["model '0'", f"model {model}-2026"]),
        upstream=dice.choice(["a", "b"]),
        status=dice.choice([200, 200, 200, 429, 502]),
        outcome=dice.choice(["complete", "complete", "caller_left", "refused", "cancelled"]),
        input=dice.randrange(100_000),
        output=dice.randrange(1000),
        reasoning=dice.randrange(10),
        cost=dice.choice([0, dice.randrange(10**12), 2**62]),
        currency=dice.choice(["USD", "USD", "EUR"]),
        price=dice.choice(["", "config"]),
        first_byte=dice.choice([None, dice.random()]),
        margin=dice.choice([0, 0, dice.randrange(-(10**12), 10**12), -(2**62)]),
    )
