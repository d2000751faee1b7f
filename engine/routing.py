"""Which route serves which operation: names before wildcards, and none of them twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.config import model
from engine.problem import Findings, Level, Path, did_you_mean
from engine.spec.operation import Operation, Specification
from engine.wildcard import matches


@dataclass(frozen=True, slots=True)
class Claim:
    """A route that serves an operation; `at` is where it says so."""

    route: model.Route
    operation: Operation
    at: Path


def assign(
    config: model.Config, specifications: Mapping[str, Specification], findings: Findings
) -> list[Claim]:
    """A claim for every operation that is served, in the order of the routes."""
    known = {op.id: op for spec in specifications.values() for op in spec.operations.values()}
    unread = (set(config.specs) - set(specifications)) | set(config.broken.names.get("specs", ()))
    claims: dict[str, Claim] = {}
    named = [(r, name, at) for r in config.routes for name, at in r.operations if "*" not in name]
    wild = [(r, name, at) for r in config.routes for name, at in r.operations if "*" in name]
    for route, name, at in named:
        if name in known:
            _claim(Claim(route, known[name], at), claims, config, findings)
        elif not unread & {name.partition(".")[0], "*"}:
            hint = _hint(name, known, config)
            findings.error(config.source, at, "MW301", f"unknown operation '{name}'", hint)
    explicit = set(claims)
    for route, pattern, at in wild:
        matched = [op for id_, op in known.items() if matches(id_, pattern)]
        spec = pattern.partition(".")[0]
        if not matched and not (unread if "*" in spec else unread & {spec, "*"}):
            hint = _hint(pattern.rstrip(".*"), known, config)
            findings.error(config.source, at, "MW302", f"'{pattern}' names no operation", hint)
        elif matched and all(op.id in explicit for op in matched):
            message = f"this can never match: every operation of '{pattern}' has a route of its own"
            findings.error(config.source, at, "MW302", message, "remove it")
        for operation in matched:
            if operation.id not in explicit:
                _claim(Claim(route, operation, at), claims, config, findings)
    if not config.broken.names:
        _note_unserved(known, claims, findings)
    if len(specifications) == len(config.specs):
        _check_websockets(config, claims, findings)
    places = {route.at: index for index, route in enumerate(config.routes)}
    return sorted(claims.values(), key=lambda claim: places[claim.route.at])


def _claim(
    claim: Claim, claims: dict[str, Claim], config: model.Config, findings: Findings
) -> None:
    other = claims.setdefault(claim.operation.id, claim)
    if other is not claim:
        line, _ = config.source.place(other.at)
        message = f"two routes for {claim.operation.id}"
        findings.error(config.source, claim.at, "MW303", message, f"the first is on line {line}")


def _check_websockets(
    config: model.Config, claims: Mapping[str, Claim], findings: Findings
) -> None:
    """Limits of a session on a route that has none."""
    having = {claim.route.at for claim in claims.values() if claim.operation.websocket}
    for route in config.routes:
        if route.websocket is not None and route.operations and route.at not in having:
            message = "none of this route's operations is a WebSocket"
            hint = "a document says that one is by a GET that answers 101"
            at = (*route.at, "websocket")
            findings.error(config.source, at, "MW307", message, hint, key=True)


def _hint(name: str, known: Mapping[str, Operation], config: model.Config) -> str:
    spec = name.partition(".")[0]
    if spec not in config.specs:
        return did_you_mean(spec, config.specs, "an operation is <spec>.<operationId>")
    return did_you_mean(name, [id_ for id_ in known if id_.startswith(f"{spec}.")] or known)


def _note_unserved(
    known: Mapping[str, Operation], claims: Mapping[str, Claim], findings: Findings
) -> None:
    for operation in known.values():
        if operation.id not in claims:
            message = f"{operation.id} is served by no route"
            findings.note(operation.source, operation.at, Level.INFO, "MW306", message, key=True)
