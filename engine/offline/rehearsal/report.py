"""What was seen of a request as one JSON value: what `explain --format json` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from engine.config.model import Config
from engine.exchange.exchange import MISSING
from engine.offline.rehearsal.credential_display import CredentialDisplay
from engine.offline.rehearsal.observation import Seen, Sent
from engine.offline.rehearsal.path_routes import Near, nearest
from engine.offline.rehearsal.quota_report import verdicts
from engine.offline.rehearsal.sent_request import changes, model_sent
from engine.plan.route import Plan, PlanResult, Route
from engine.source.problem import place_of
from engine.upstream.client.client import Timeouts
from engine.values.wildcard import ByName

Said = dict[str, Any]


def report(planned: PlanResult, seen: Seen, warnings: Sequence[str] = ()) -> Said:
    """All of it, with the `warnings` of the second opinion. Credentials are never in it."""
    assert planned.plan is not None
    config = planned.plan.config
    route = seen.route
    display = CredentialDisplay(config)
    said: Said = {
        "request": {"method": seen.request.method.upper(), "path": _path(seen)},
        "served": seen.status < 400,
        "status": seen.status,
        "error": _error(seen),
    }
    if route is None:
        return said | {"nearest": [_near(near) for near in nearest(planned, seen.request)]}
    return said | {
        "operation": _operation(route),
        "route": {"place": str(place_of(config.source, route.at)), "goes": _goes(route)},
        "authentication": _authentication(route, seen),
        "policies": verdicts(route, seen, config.currency),
        "validation": _validation(route, seen),
        "model": _model(route, seen, planned.plan),
        "targets": _targets(seen, route),
        "patience": _patience(seen, route, config),
        "outgoing": [
            _outgoing(sent, seen, display) | {"model": model_sent(route, sent, config)}
            for sent in seen.sent
        ],
        "log": [display.text(line) for line in seen.log],
        "warnings": [display.text(warning) for warning in warnings],
    }


def code_of(seen: Seen) -> str:
    """The stable word of the refusal, from whichever dialect it was said in; "" for none."""
    if seen.status < 400:
        return ""
    if seen.error is not None:
        return seen.error.code
    try:
        error = orjson.loads(seen.body).get("error", {})
    except (orjson.JSONDecodeError, AttributeError):
        return ""
    if not isinstance(error, dict):
        return ""
    details = error.get("details")
    if isinstance(details, list) and details and isinstance(details[0], dict):
        return str(details[0].get("reason", ""))
    return str(error.get("code") or error.get("type") or "")


def _path(seen: Seen) -> str:
    return seen.request.target.partition("?")[0]  # the query may hold the caller's token


def _error(seen: Seen) -> Said | None:
    if seen.status < 400:
        return None
    error = seen.error
    message = error.message if error is not None else _message(seen.body)
    param = error.param if error is not None else ""
    by = "router" if seen.route is None else seen.refused_by or "upstream"
    return {"code": code_of(seen), "message": message, "param": param, "by": by}


def _message(body: bytes) -> str:
    try:
        error = orjson.loads(body).get("error")
    except (orjson.JSONDecodeError, AttributeError):
        return ""
    return str(error.get("message", "")) if isinstance(error, dict) else ""


def _near(near: Near) -> Said:
    operation = near.operation
    return {
        "operation": operation.id,
        "method": operation.method,
        "path": near.template,
        "differs": near.kind,
        "why": near.why,
        "place": str(place_of(operation.source, operation.at, key=True)),
    }


def _operation(route: Route) -> Said:
    operation = route.operation
    return {
        "id": operation.id,
        "method": operation.method,
        "path": operation.path,
        "place": str(place_of(operation.source, operation.at, key=True)),
    }


def _goes(route: Route) -> str:
    if route.answer:
        return f"answered here ({route.answer})"
    return "to fixed targets" if route.to else "by model"


def _authentication(route: Route, seen: Seen) -> Said:
    caller = seen.exchange.caller if seen.exchange is not None else None
    carriers = [{"kind": c.kind, "name": c.name, "held": c in seen.carried} for c in route.carriers]
    verdict = "refused" if seen.refused_by == "authenticate" else "passed"
    return {
        "verdict": "public" if route.public else verdict,
        "carriers": carriers,
        "token": caller.name if caller is not None else None,
    }


def _validation(route: Route, seen: Seen) -> Said:
    step, error = seen.step("validate"), seen.error
    if step is None:
        return {"mode": route.validate, "verdict": "not reached"}
    if seen.reported:
        return {"mode": route.validate, "verdict": "would refuse", "places": seen.reported}
    if step.passed or error is None:
        return {"mode": route.validate, "verdict": "passed"}
    return {
        "mode": route.validate,
        "verdict": "refused",
        "place": error.param,
        "code": error.code,
        "message": error.message,
    }


def _model(route: Route, seen: Seen, plan: Plan) -> Said | None:
    config = plan.config
    exchange = seen.exchange
    if route.model is None or exchange is None:
        return None
    said: Said = {"from": route.model.text, "default": route.default_model}
    name = exchange.model
    if not name:
        return said | {"asked": None}
    entry = ByName(config.models).find(name)
    assert entry is not None
    why = "wildcard" if "*" in entry.name else "exact"
    if route.model.read(exchange) in (MISSING, None, ""):
        why = "default"
    return said | {
        "asked": name,
        "why": why,
        "entry": entry.name,
        "operations": [operation.id for operation in plan.model_operations().of(entry.name)],
        "place": str(place_of(config.source, entry.at, key=True)),
    }


def _targets(seen: Seen, route: Route) -> list[Said]:
    """In the order in which they are tried when the dice say 0."""
    if route.to:
        return [{"upstream": t.upstream, "model": t.model, "weight": t.weight} for t in route.to]
    exchange = seen.exchange
    if exchange is None:
        return []
    return [
        {
            "upstream": target.upstream.name,
            "model": target.model or exchange.model,
            "weight": target.weight,
            "fallback": target.served if target.served not in ("", exchange.model) else "",
        }
        for target in exchange.targets
    ]


def _patience(seen: Seen, route: Route, config: Config) -> Said:
    """Timeouts (seconds), retries and breaker of each upstream that may be asked."""
    said: Said = {}
    for name in dict.fromkeys(target["upstream"] for target in _targets(seen, route)):
        upstream = config.upstreams[name]
        timeouts = Timeouts(**upstream.timeouts)._asdict()
        retry, breaker = upstream.retry, upstream.breaker
        said[name] = {
            "timeouts": timeouts,
            "attempts": retry.attempts,
            "retries": sorted(retry.on),
            "breaker": {"failures": breaker.failures, "cooldown": breaker.cooldown},
        }
    return said


def _outgoing(sent: Sent, seen: Seen, display: CredentialDisplay) -> Said:
    exchange = seen.exchange
    before = seen.request.body if exchange is not None else b""
    changed = changes(before, sent.body)
    return {
        "upstream": sent.upstream,
        "method": sent.method,
        "url": display.url(sent.upstream, sent.url),
        "headers": [list(pair) for pair in display.headers(sent.upstream, sent.headers)],
        "body": {
            "bytes": len(sent.body),
            "unchanged": before == sent.body,
            "changes": [change.as_json() for change in changed or ()],
        },
        "answered": sent.answered,
    }
