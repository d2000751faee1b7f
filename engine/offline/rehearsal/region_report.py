"""The regions that a rehearsed request requires, and the targets that it cannot have for that."""

from __future__ import annotations

from engine.offline.rehearsal.observation import Rehearsal
from engine.plan.route import Plan, Route
from engine.upstream.models.regions import are_within, region_text
from engine.values.trees import Json
from engine.values.wildcard import ByName

Report = Json


def region_report(route: Route, rehearsal: Rehearsal, plan: Plan) -> Report | None:
    """What is required, and the upstreams elsewhere that are left out, with their regions; None
    if any region will do."""
    exchange = rehearsal.exchange
    caller = None if exchange is None else exchange.caller
    lists = () if route.regions is None else (route.regions,)
    lists = lists if caller is None else (*lists, *caller.region_lists)
    if not lists:
        return None
    upstreams = plan.config.upstreams
    left_out = {
        name: list(upstreams[name].regions)
        for name in _upstreams(route, rehearsal, plan)
        if not are_within(upstreams[name].regions, lists)
    }
    return {"required": region_text(lists), "left_out": left_out}


def _upstreams(route: Route, rehearsal: Rehearsal, plan: Plan) -> dict[str, None]:
    """The upstreams of the targets that a request without a required region could have."""
    if route.model is None or rehearsal.exchange is None:
        return dict.fromkeys(target.upstream for target in route.to)
    exchange, operations = rehearsal.exchange, plan.model_operations()
    name = exchange.model.name or str(route.model.read(exchange))
    entry = ByName(plan.config.models).find(name)
    if entry is None:
        return {}
    targets = (
        *operations.targets(entry.name, route.by_model),
        *operations.rule_targets(entry.name, route.by_model),
    )
    return dict.fromkeys(each.target.upstream for each in targets)
