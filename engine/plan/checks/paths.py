"""Checks of the paths of routes: each path belongs to one route; an operation that replaces a page
of the gateway is noted."""

from __future__ import annotations

from collections.abc import Sequence

from engine.config.config import Config
from engine.config.console import Console
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
