"""Tags of a config that keeps no ledger."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    config = case.config
    if config.tags and config.stores.records is None and not config.telemetry.tags:
        message = "tags are noted nowhere: there is no ledger"
        hint = (
            "write stores: {records: sqlite:///var/modelway.db}, or telemetry: {tags: [...]} for "
            "metrics, or remove 'tags'"
        )
        case.warn(("tags",), "MW518", message, hint, key=True)
