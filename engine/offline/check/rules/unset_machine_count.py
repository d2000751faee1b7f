"""Limits of several machines in Redis, where it is not said how many they are."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    stores = case.config.stores
    several = (stores.records or "").startswith("postgresql") and stores.counters != "memory"
    if not several or stores.on_store_failure != "local":
        return
    if "machines" not in case.config.source.value["stores"]:
        message = "while Redis is away, each gateway lets a whole limit pass"
        hint = "records on PostgreSQL mean several machines: write machines: 3 for three, 1 for one"
        case.warn(("stores", "counters"), "MW432", message, hint)
