"""An idle timeout of streams that is too short, too long or without effect."""

from __future__ import annotations

from engine.config.upstreams import UpstreamConfig
from engine.offline.check.audit import AuditCase
from engine.plan.route import Route
from engine.upstream.client.deadlines import Timeouts

_MIN_IDLE = 1.0
_MAX_IDLE = 600.0


def check(case: AuditCase) -> None:
    streaming = [route for route in case.plan.routes if _streams(case, route)]
    fixed = {target.upstream for route in streaming for target in route.to}
    dialects = {route.dialects[-1].name for route in streaming if route.model is not None}
    by_model = {
        target.upstream for model in case.config.models.values() for target in model.targets
    }
    for upstream in case.config.upstreams.values():
        speaks = upstream.dialect in dialects or (dialects and not upstream.dialect)
        has_streams = upstream.name in fixed or (upstream.name in by_model and speaks)
        if has_streams and "idle" in upstream.timeouts:
            _check(case, upstream)


def _check(case: AuditCase, upstream: UpstreamConfig) -> None:
    timeouts = Timeouts(**upstream.timeouts)
    at = (*upstream.at, "timeouts", "idle")
    if not _MIN_IDLE <= timeouts.idle <= _MAX_IDLE:
        consequence = (
            "cuts normal pauses" if timeouts.idle < _MIN_IDLE else "does not detect a dead stream"
        )
        message = f"streams come from '{upstream.name}': an idle timeout of {timeouts.idle:g} s"
        case.warn(at, "MW404", f"{message} {consequence}", "write 30s to 5m; the default is 60s")
    elif timeouts.idle >= timeouts.total:
        message = f"the idle timeout of '{upstream.name}' has no effect: `total` is not longer"
        case.warn(at, "MW404", message, "write less than timeouts.total, by default 10m")


def _streams(case: AuditCase, route: Route) -> bool:
    operation = route.operation
    node = case.plan_result.specifications[operation.spec].node(operation)
    return any(
        media_type.startswith("text/event-stream")
        for _, response in node.get("responses").items()
        for media_type, _ in response.get("content").items()
    )
