"""Checks of routes: each path belongs to one, and may replace a page of the gateway; `respond` is a
response that HTTP allows; client secrets can be issued and accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.config.config import Config
from engine.config.console import Console
from engine.config.routes import Respond, RouteConfig
from engine.edge.answers import client_secrets
from engine.edge.host_names import ANY_HOST
from engine.plan.route import Route
from engine.source.problem import Findings, Level
from engine.spec.document import path_templates
from engine.spec.document.path_tree import PathMatch, PathTree
from engine.spec.operation import Operation


def check_paths(routes: Sequence[Route], config: Config, findings: Findings) -> None:
    """Note each path of two routes, or of a route and a page of the gateway."""
    _check_collisions(routes, config.console, findings)
    _note_claimed_pages(routes, config, findings)


def _check_collisions(routes: Sequence[Route], console: Console, findings: Findings) -> None:
    """Note two routes with the same method and path, unless they are alternatives of one document,
    their documents have dialects that requests tell apart, they have other hosts, or they share an
    answer of the gateway's own; and each route on a path of the console."""
    routes_by_path: dict[tuple[object, ...], list[Route]] = {}
    for route in routes:
        operation = route.operation
        for template, _ in route.templates:
            if operation.method in ("GET", "HEAD") and (page := console.page_at(template)):
                message = f"{operation.id} is {operation.method} {template}, the console's {page}"
                hint = "mount the document elsewhere, or switch that off under 'console:'"
                findings.error(operation.source, operation.at, "MW320", message, hint, key=True)
            key = (operation.method, path_templates.shape(template), operation.query)
            others = routes_by_path.setdefault(key, [])
            first = next((other for other in others if not _may_share(route, other)), None)
            others.append(route)
            if first is None:
                continue
            findings.note(
                operation.source,
                operation.at,
                Level.ERROR,
                "MW304",
                f"{operation.id} and {first.operation.id} are both {operation.method} {template}",
                "mount one of the documents under another prefix with specs.<name>.mount",
                key=True,
            )


def _may_share(route: Route, other: Route) -> bool:
    """Whether both may have the same method and path."""
    return (
        not _hosts(route) & _hosts(other)
        or _share_answer(other, route)
        or route.operation.is_alternative(other.operation)
        or route.dialects[-1].differs_by_request(other.dialects[-1])
    )


def _hosts(route: Route) -> set[str]:
    return {*route.hosts} or {ANY_HOST}


def _share_answer(first: Route, second: Route) -> bool:
    """Whether the gateway answers both itself, in the dialects of all documents."""
    answer = first.answer
    return answer is not None and answer is second.answer and answer.in_every_dialect


def _note_claimed_pages(routes: Sequence[Route], config: Config, findings: Findings) -> None:
    """Warn of each page of the gateway on the path of an operation."""
    tree = PathTree()
    for route in routes:
        for template, _ in route.templates:
            tree.add(template, route.operation.method, route.operation, route.slash_variables)
    metrics = config.telemetry.metrics
    for path in config.telemetry.public_pages:
        match = tree.find(path, "GET")
        if not isinstance(match, PathMatch):
            continue
        operation: Operation = match.value
        hint = "mount the document under another prefix if you need that page"
        if path == metrics:
            hint = "write another path for the metrics at telemetry.metrics"
        findings.note(
            operation.source,
            operation.at,
            Level.WARNING,
            "MW321",
            f"{operation.id} answers GET {path} in place of the gateway's page",
            hint,
            key=True,
        )


_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_WITHOUT_BODY = frozenset({204, 205, 304})
"""The statuses whose responses have no content (RFC 9110 15.3.5, 15.3.6 and 15.4.5)."""
_OF_CONNECTION = frozenset(
    {"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer"}
    | {"transfer-encoding", "upgrade"}
)
_OF_GATEWAY = frozenset({"date", "server", "x-request-id", "request-id"})
_FIELD_VALUE = re.compile(r"[\x20-\x7e\t]*+")
_SECONDS = re.compile(r"[0-9]{1,9}")

_Problem = tuple[tuple[str, ...], str, str]


def check_responses(config: Config, findings: Findings) -> None:
    """Note each response of a route that cannot be sent as it is written."""
    for route in config.routes:
        if route.respond is not None:
            for keys, message, hint in _problems(route, route.respond):
                at = (*route.at, *keys)
                findings.error(config.source, at, "MW530", message, hint)


def _problems(route: RouteConfig, respond: Respond) -> Iterator[_Problem]:
    status, headers = respond.status, dict(respond.headers)
    if status in _WITHOUT_BODY and respond.has_body:
        yield ("respond", "body"), f"a response {status} has no body", "remove it"
    if status in _REDIRECTS and not headers.get("location"):
        hint = "write headers: {location: https://host/path}"
        yield ("respond", "status"), f"a redirect {status} needs the header 'location'", hint
    if len(headers) < len(respond.headers):
        yield ("respond", "headers"), "a header is given twice", "names have no case"
    for name, value in respond.headers:
        if problem := _header_problem(name, value):
            yield ("respond", "headers"), *problem
    if route.hedge is not None:
        yield ("hedge",), "a route with 'respond' asks no target", "remove 'hedge'"


def _header_problem(name: str, value: str) -> tuple[str, str] | None:
    if name in _OF_CONNECTION:
        return f"'{name}' is about the connection, which the gateway manages", "remove it"
    if name in _OF_GATEWAY:
        return f"the gateway sends its own '{name}'", "remove it"
    if not _FIELD_VALUE.fullmatch(value):
        return f"the value of '{name}' is not plain text of one line", "write printable ASCII"
    if name == "retry-after" and not _SECONDS.fullmatch(value):
        return "'retry-after' is not a number of seconds", "write retry-after: 120"
    return None


def check_client_secrets(config: Config, routes: Sequence[Route], findings: Findings) -> None:
    """Note a route that issues client secrets which no session accepts, or without keys, and keys
    that no route uses."""
    issuers = [route for route in routes if route.answer is client_secrets.ANSWER]
    dialects = {r.dialects[-1].name for r in routes if r.client_secrets is not None}
    keys = config.client_secrets.keys
    for route in issuers:
        if route.dialects[-1].name not in dialects:
            message = f"no session accepts the client secrets that {route.operation.id} issues"
            hint = "route the WebSocket by 'model'; its operation says x-modelway-client-secrets"
            findings.error(config.source, route.at, "MW495", message, hint)
        elif not keys:
            message = f"{route.operation.id} answers 501: there are no keys"
            hint = 'write client_secrets: {keys: ["${CLIENT_SECRET_KEY}"]}, and set the variable'
            findings.note(config.source, route.at, Level.INFO, "MW496", message, hint)
    if keys and not issuers:
        message = "'client_secrets' has no effect: no route issues any"
        hint = "write a route with answer: client_secrets, or remove 'client_secrets'"
        at = ("client_secrets",)
        findings.note(config.source, at, Level.WARNING, "MW497", message, hint, key=True)
