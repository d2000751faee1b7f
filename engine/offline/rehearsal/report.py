"""The report of a rehearsal as one JSON value: the output of `explain --format json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.config.config import Config
from engine.config.models import Model
from engine.exchange.exchange import MISSING, Exchange
from engine.offline.rehearsal.credential_display import CredentialDisplay
from engine.offline.rehearsal.observation import Rehearsal
from engine.offline.rehearsal.path_routes import SimilarOperation, alternatives_of, nearest
from engine.offline.rehearsal.quota_report import verdicts
from engine.offline.rehearsal.sent_request import upstream_request_report
from engine.offline.rehearsal.target_report import (
    price_report,
    region_report,
    target_reports,
    upstream_report,
)
from engine.offline.rehearsal.transform_report import transform_report
from engine.plan.plan import Plan, PlanResult
from engine.plan.route import Route
from engine.source.problem import place_of
from engine.upstream.models.token_counter import ESTIMATE_HEADER
from engine.values.event_json import json_object
from engine.values.trees import Json
from engine.values.wildcard import ByName

Report = Json
_READING = ("alternatives", "receive", "validate")
_UNKNOWN_CALLER = (401, 403, 429)


def report(plan_result: PlanResult, rehearsal: Rehearsal, warnings: Sequence[str] = ()) -> Report:
    """The report, with the `warnings` of the second opinion and without credentials."""
    assert plan_result.plan is not None
    config = plan_result.plan.config
    route = rehearsal.route
    display = CredentialDisplay(config)
    summary: Report = {
        "request": {"method": rehearsal.request.method.upper(), "path": _path(rehearsal)},
        "served": rehearsal.status < 400,
        "status": rehearsal.status,
        "error": _error(rehearsal),
    }
    if route is None:
        return summary | {
            "nearest": [_near(near) for near in nearest(plan_result, rehearsal.request)]
        }
    targets = target_reports(route, rehearsal, config)
    return summary | {
        "operation": _operation(route, plan_result.plan),
        "route": _route(route, rehearsal, config),
        "authentication": _authentication(route, rehearsal),
        "policies": verdicts(route, rehearsal, config),
        "validation": _validation(route, rehearsal),
        "model": _model(route, rehearsal, plan_result.plan),
        "price": price_report(rehearsal, plan_result.plan) if route.model is not None else None,
        "region": region_report(route, rehearsal, plan_result.plan),
        "targets": targets,
        "timeouts": {
            name: upstream_report(config.upstreams[name]) for name in _upstream_names(targets)
        },
        "transforms": transform_report(route, rehearsal, plan_result.plan),
        "upstream_requests": [
            upstream_request_report(request, rehearsal, display, config)
            for request in rehearsal.sent_requests
        ],
        "estimate": dict(rehearsal.headers).get(ESTIMATE_HEADER),
        "log": [display.text(line) for line in rehearsal.log],
        "warnings": [display.text(warning) for warning in warnings],
    }


def code_of(rehearsal: Rehearsal) -> str:
    """The error code of the response, in the form of any dialect; "" for none."""
    if rehearsal.status < 400:
        return ""
    if rehearsal.error is not None:
        return rehearsal.error.code
    error = json_object(rehearsal.body).get("error")
    if not isinstance(error, dict):
        return ""
    details = error.get("details")
    if isinstance(details, list) and details and isinstance(details[0], dict):
        return str(details[0].get("reason", ""))
    return str(error.get("code") or error.get("type") or "")


def _path(rehearsal: Rehearsal) -> str:
    return rehearsal.request.target.partition("?")[0]  # the query may contain the caller's token


def _error(rehearsal: Rehearsal) -> Report | None:
    if rehearsal.status < 400:
        return None
    error = rehearsal.error
    message = error.message if error is not None else _message(rehearsal.body)
    param = error.param if error is not None else ""
    by = rehearsal.refused_by or "upstream"
    if (route := rehearsal.route) is None or route.respond is not None:
        by = "router" if route is None else rehearsal.refused_by or "respond"
    return {"code": code_of(rehearsal), "message": message, "param": param, "by": by}


def _message(body: bytes) -> str:
    error = json_object(body).get("error")
    return str(error.get("message", "")) if isinstance(error, dict) else ""


def _near(near: SimilarOperation) -> Report:
    operation = near.operation
    return {
        "operation": operation.id,
        "method": operation.method,
        "path": near.template,
        "difference": near.difference,
        "reason": near.reason,
        "place": str(place_of(operation.source, operation.at, key=True)),
    }


def _operation(route: Route, plan: Plan) -> Report:
    """The operation, and the others on its method and path that may be chosen."""
    operation = route.operation
    others = [r.operation.id for r in alternatives_of(route, plan) if r is not route]
    alternatives = {"alternatives": others} if others else {}
    return alternatives | {
        "id": operation.id,
        "method": operation.method,
        "path": operation.path,
        "place": str(place_of(operation.source, operation.at, key=True)),
    }


def _route(route: Route, rehearsal: Rehearsal, config: Config) -> Report:
    return {
        "place": str(place_of(config.source, route.at)),
        "destination": route.destination,
        "hosts": list(route.hosts),
        "priority": _priority(rehearsal, route),
        "hedge": None if route.hedge is None else route.hedge.after,
    }


def _authentication(route: Route, rehearsal: Rehearsal) -> Report:
    caller = rehearsal.exchange.caller if rehearsal.exchange is not None else None
    carriers = [
        {"kind": c.kind, "name": c.name, "present": c in rehearsal.carried} for c in route.carriers
    ]
    by, error = rehearsal.refused_by, rehearsal.error
    is_unknown = by == "alternatives" and error is not None and error.status in _UNKNOWN_CALLER
    verdict = "refused" if by == "authenticate" or is_unknown else "passed"
    return {
        "verdict": "public" if route.allows_anonymous else verdict,
        "carriers": carriers,
        "token": caller.name if caller is not None else None,
    }


def _validation(route: Route, rehearsal: Rehearsal) -> Report:
    """The verdict of the stages that read the request and compare it with the document. 403 and 404
    are refusals of the caller, and of the model in a large body, before it is parsed."""
    error, steps = rehearsal.error, [s for s in rehearsal.steps if s.name in _READING]
    if rehearsal.reported:
        return {"mode": route.validate, "verdict": "would refuse", "places": rehearsal.reported}
    unread = (*_UNKNOWN_CALLER, 404)
    if error is not None and error.status not in unread and rehearsal.refused_by in _READING:
        return {
            "mode": route.validate,
            "verdict": "refused",
            "place": error.param,
            "code": error.code,
            "message": error.message,
        }
    if route.respond is not None:
        return {"mode": route.validate, "verdict": "not reached"}
    reached = len(steps) == sum(name in _READING for name in rehearsal.stages)
    return {"mode": route.validate, "verdict": "passed" if reached else "not reached"}


def _model(route: Route, rehearsal: Rehearsal, plan: Plan) -> Report | None:
    config = plan.config
    exchange = rehearsal.exchange
    if route.model is None or exchange is None:
        return None
    report: Report = {"from": route.model.text, "default": route.default_model}
    name = exchange.model.name
    if not name:
        return report | {"name": None}
    entry = ByName(config.models).find(name)
    assert entry is not None
    reason = "wildcard" if "*" in entry.name else "exact"
    if route.model.read(exchange) in (MISSING, None, ""):
        reason = "default"
    return report | {
        "name": name,
        "reason": reason,
        "entry": entry.name,
        "operations": [operation.id for operation in plan.model_operations().of(entry.name)],
        "rule": _rule(exchange, entry, config),
        "mirror": _mirror(entry, config),
        "place": str(place_of(config.source, entry.at, key=True)),
    }


def _rule(exchange: Exchange, entry: Model, config: Config) -> Report | None:
    """The rule that has chosen the targets, counted from 1."""
    index = exchange.model.rule
    if index is None:
        return None
    return {"number": index + 1, "place": str(place_of(config.source, entry.when[index].at))}


def _mirror(entry: Model, config: Config) -> Report | None:
    """Where copies of some requests for the model go; a rehearsal makes none."""
    mirror = entry.mirror
    if mirror is None:
        return None
    return {
        "percent": mirror.percent,
        "upstreams": [target.upstream for target in mirror.to],
        "place": str(place_of(config.source, mirror.at, key=True)),
    }


def _upstream_names(targets: Sequence[Report]) -> Iterable[str]:
    """The names of the targets' upstreams, each once."""
    return dict.fromkeys(target["upstream"] for target in targets)


def _priority(rehearsal: Rehearsal, route: Route) -> str:
    """The priority of the request in queues: the token's, else the route's."""
    exchange = rehearsal.exchange
    caller = None if exchange is None else exchange.caller
    return (caller.priority if caller is not None else "") or route.priority
