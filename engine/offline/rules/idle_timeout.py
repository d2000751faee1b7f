"""A stream whose upstream may fall silent for so long that nobody waits for it any more."""

from __future__ import annotations

from engine.config.model import Upstream
from engine.offline.audit import Case
from engine.plan.route import Route
from engine.upstream.client.deadlines import Timeouts

_LONGEST = 600.0
_SHORTEST = 1.0


def check(case: Case) -> None:
    streaming = [route for route in case.plan.routes if _streams(case, route)]
    fixed = {target.upstream for route in streaming for target in route.to}
    dialects = {route.dialects[-1].name for route in streaming if route.model is not None}
    by_model = {target.upstream for model in case.config.models.values() for target in model.to}
    for upstream in case.config.upstreams.values():
        asked = upstream.name in by_model and (upstream.dialect in dialects or not upstream.dialect)
        if (upstream.name in fixed or (asked and dialects)) and "idle" in upstream.timeouts:
            _check(case, upstream)


def _check(case: Case, upstream: Upstream) -> None:
    timeouts = Timeouts(**upstream.timeouts)
    at = (*upstream.at, "timeouts", "idle")
    if not _SHORTEST <= timeouts.idle <= _LONGEST:
        what = "hardly lets them pause" if timeouts.idle < _SHORTEST else "guards nothing"
        message = f"streams come from '{upstream.name}': an idle timeout of {timeouts.idle:g} s"
        case.warn(at, "MW404", f"{message} {what}", "30s to 5m is usual; absent it is 60s")
    elif timeouts.idle >= timeouts.total:
        message = f"the idle timeout of '{upstream.name}' never acts: `total` ends before it"
        case.warn(at, "MW404", message, "make it less than timeouts.total, 10m when absent")


def _streams(case: Case, route: Route) -> bool:
    operation = route.operation
    node = case.planned.specifications[operation.spec].node(operation)
    return any(
        media_type.startswith("text/event-stream")
        for _, response in node.get("responses").items()
        for media_type, _ in response.get("content").items()
    )
