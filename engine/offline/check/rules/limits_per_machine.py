"""Limits that each machine counts separately, so that together they allow more."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    stores = case.config.stores
    shared = (stores.records or "").startswith("postgresql")
    if not shared or stores.counters != "memory":
        return
    limited = any(True for _ in case.limits_of(case.listed_policies))
    if limited or case.config.limits_callers:
        message = "limits are counted in memory, separately on each machine"
        hint = "records on PostgreSQL mean several machines: counters: redis://host:6379/0"
        case.warn(("stores", "records"), "MW408", message, hint)
