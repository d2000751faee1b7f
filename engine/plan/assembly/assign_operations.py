"""Assign operations to routes: names before wildcards, and each operation once for each host."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from engine.config.config import Config
from engine.config.routes import RouteConfig
from engine.edge import answers
from engine.edge.host_names import ANY_HOST
from engine.source.problem import Findings, Level, Path, Problem, place_of
from engine.source.suggestion import did_you_mean, near
from engine.spec.operation import Operation
from engine.spec.spec import Specification
from engine.values.units import format_count, format_names
from engine.values.wildcard import matches

_MAX_NAMED = 8


class Claim(Struct, frozen=True):
    """A route that serves an operation; `at` is the place of the name in the config. `hosts` are
    those of the route for which it does, empty for every host without another route of it."""

    route: RouteConfig
    operation: Operation
    at: Path
    hosts: tuple[str, ...] = ()

    @property
    def keys(self) -> list[ClaimKey]:
        """The operation, once for each host."""
        return [(self.operation.id, host) for host in self.hosts or (ANY_HOST,)]


ClaimKey = tuple[str, str]
"""The id of an operation, and a pattern of hosts (see `engine.edge.host_names`)."""


def assign(
    config: Config, specifications: Mapping[str, Specification], findings: Findings
) -> list[Claim]:
    """A claim for every operation that is served, in the order of the routes."""
    operations = {op.id: op for spec in specifications.values() for op in spec.operations.values()}
    refusals = _refusals(specifications)
    unread = (set(config.specs) - set(specifications)) | set(config.invalid.names.get("specs", ()))
    claims: dict[ClaimKey, Claim] = {}
    exact = [(r, name, at) for r in config.routes for name, at in r.operations if "*" not in name]
    wild = [(r, name, at) for r in config.routes for name, at in r.operations if "*" in name]
    for route, name, at in exact:
        if name in operations:
            _claim(Claim(route, operations[name], at, route.hosts), claims, config, findings)
        elif name in refusals:
            _refuse(name, refusals[name], config, at, findings)
        elif not unread & {name.partition(".")[0], "*"}:
            hint = operation_hint(name, operations, config)
            findings.error(config.source, at, "MW301", f"unknown operation '{name}'", hint)
    explicit = set(claims)
    for route, pattern, at in wild:
        matched = [op for id_, op in operations.items() if matches(id_, pattern)]
        spec = pattern.partition(".")[0]
        refused_names = sorted(name for name in refusals if matches(name, pattern))
        if refused_names:
            _leave_out(pattern, refused_names, config, at, findings)
        elif not matched and not (unread if "*" in spec else unread & {spec, "*"}):
            hint = operation_hint(pattern, operations, config)
            findings.error(config.source, at, "MW302", f"'{pattern}' matches no operation", hint)
        rest = [claim for op in matched if (claim := _unclaimed(route, op, at, explicit))]
        if matched and not rest:
            message = f"this can never match: every operation of '{pattern}' has another route"
            findings.error(config.source, at, "MW302", message, "remove it")
        for claim in rest:
            _claim(claim, claims, config, findings)
    served = {id(claim): claim for claim in claims.values()}.values()
    if not config.invalid.names:
        _note_unserved(specifications, {claim.operation.id for claim in served}, findings)
    if len(specifications) == len(config.specs):
        _check_websockets(config, served, findings)
    order = {route.at: index for index, route in enumerate(config.routes)}
    return sorted(served, key=lambda claim: order[claim.route.at])


def _unclaimed(
    route: RouteConfig, operation: Operation, at: Path, explicit: Collection[ClaimKey]
) -> Claim | None:
    """The claim of a route by a wildcard, for the hosts for which no route names the operation;
    None without any."""
    claim = Claim(route, operation, at, route.hosts)
    hosts = [host for _, host in claim.keys if (operation.id, host) not in explicit]
    return replace(claim, hosts=tuple(hosts) if route.hosts else ()) if hosts else None


def _refusals(specifications: Mapping[str, Specification]) -> dict[str, Problem]:
    """The operations that cannot be served, each with the problem that prevents it."""
    return {
        f"{spec.name}.{name}": problem
        for spec in specifications.values()
        for name, problem in spec.refusals.items()
    }


def _refuse(name: str, problem: Problem, config: Config, at: Path, findings: Findings) -> None:
    """Note that a route names an operation that cannot be served."""
    hint = f"see {problem.place}: {problem.message}"
    findings.error(config.source, at, "MW307", f"{name} cannot be served", hint)


def _leave_out(
    pattern: str, names: list[str], config: Config, at: Path, findings: Findings
) -> None:
    """Note that a wildcard matches operations that cannot be served."""
    listed = format_names(names, _MAX_NAMED)
    message = f"'{pattern}' leaves out {len(names)} that cannot be served: {listed}"
    findings.note(config.source, at, Level.WARNING, "MW308", message)


def _claim(claim: Claim, claims: dict[ClaimKey, Claim], config: Config, findings: Findings) -> None:
    for key in claim.keys:
        earlier = claims.setdefault(key, claim)
        if earlier is claim:
            continue
        first, second = place_of(config.source, earlier.at), place_of(config.source, claim.at)
        where = f"on line {first.line}" if first.file == second.file else f"at {first}"
        message = f"two routes for {claim.operation.id}" + (f" at {key[1]}" if key[1] else "")
        findings.error(config.source, claim.at, "MW303", message, f"the first is {where}")


def _check_websockets(config: Config, claims: Collection[Claim], findings: Findings) -> None:
    """Note limits of WebSocket sessions on a route without WebSockets."""
    websocket_routes = {claim.route.at for claim in claims if claim.operation.websocket}
    for route in config.routes:
        if route.websocket is not None and route.operations and route.at not in websocket_routes:
            message = "none of this route's operations is a WebSocket"
            hint = "a document declares a WebSocket as a GET with the response 101"
            at = (*route.at, "websocket")
            findings.error(config.source, at, "MW307", message, hint, key=True)
    requests = {(c.operation.spec, c.operation.path, c.operation.method) for c in claims}
    for claim in claims:
        answer, operation = answers.get(claim.route.answer), claim.operation
        if answer is None or not answer.is_websocket:
            continue
        at = (*claim.route.at, "answer")
        if not operation.websocket:
            message = f"'{answer.name}' answers over a WebSocket, and {operation.id} is none"
            hint = "a document declares a WebSocket as a GET with the response 101"
            findings.error(config.source, at, "MW307", message, hint)
        elif (operation.spec, operation.path, "POST") not in requests:
            message = f"no route has POST {operation.path}, of which each message is a request"
            findings.error(config.source, at, "MW307", message, "add a route for it")


def operation_hint(pattern: str, operations: Mapping[str, Operation], config: Config) -> str:
    """The hint for a name or wildcard that matches no operation; `operations` are those that
    exist."""
    name = pattern.rstrip(".*")
    spec = name.partition(".")[0]
    same_name = [i for i, op in operations.items() if name in (op.name, f"{op.method} {op.path}")]
    if len(same_name) == 1:
        return f"did you mean '{same_name[0]}'?"
    if spec not in config.specs:
        likely = f"{near(spec, config.specs) or ''}{pattern[len(spec) :]}"
        if any(matches(id_, likely) for id_ in operations):
            return f"did you mean '{likely}'?"
        return did_you_mean(spec, config.specs, "an operation is <spec>.<operationId>")
    if of_spec := [id_ for id_ in operations if id_.startswith(f"{spec}.")]:
        return did_you_mean(name, of_spec)
    return f"no operation of '{spec}' can be named here: see the `paths` of its document"


def _note_unserved(
    specifications: Mapping[str, Specification], served: Collection[str], findings: Findings
) -> None:
    """Note each document that has operations without a route."""
    for specification in specifications.values():
        names = [op.id for op in specification.operations.values() if op.id not in served]
        if not names:
            continue
        total = format_count(len(specification.operations), "operation")
        message = f"no route serves {len(names)} of {total}: {format_names(names, _MAX_NAMED)}"
        source = specification.library.document.source
        findings.note(source, ("paths",), Level.INFO, "MW306", message, key=True)
