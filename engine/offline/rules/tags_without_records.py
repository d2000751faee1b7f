"""Tags of a config that keeps no ledger."""

from __future__ import annotations

from engine.offline.audit import AuditCase


def check(case: AuditCase) -> None:
    if case.config.tags and case.config.stores.records is None:
        message = "tags are noted nowhere: there is no ledger"
        hint = "write stores: {records: sqlite:///var/modelway.db}, or remove 'tags'"
        case.warn(("tags",), "MW518", message, hint, key=True)
