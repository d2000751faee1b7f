"""Routes to results of batches, in a config without a database, which alone can count them once."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    if case.config.stores.records is not None:
        return
    for route in case.plan.routes:
        if route.objects is not None and "results" in route.objects.batch:
            message = f"results of batches ({route.operation.id}) are counted nowhere"
            hint = "write stores: {records: sqlite:///var/modelway.db}, or another database"
            case.warn(route.at, "MW505", message, hint)
            return
