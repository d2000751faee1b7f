"""The routes that may serve a path, or the most similar operations if none does."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple
from urllib.parse import unquote

from msgspec.structs import replace

from engine.exchange.internal_request import Request
from engine.plan.plan import Plan, PlanResult
from engine.plan.route import Route
from engine.spec.document.path_templates import variables
from engine.spec.document.path_tree import PathMatch, PathTree
from engine.spec.operation import Operation

MAX_OPERATIONS = 3
_ALIKE = 0.72
_RANKS = ("route", "verb", "method", "mount", "path")
_VERSION = re.compile(r"/v[0-9]\w*")


class SimilarOperation(NamedTuple):
    """An operation similar to a request. `difference` is route, verb, method, mount or path;
    `reason` is the sentence for people."""

    operation: Operation
    template: str
    difference: str
    reason: str
    similarity: float


def nearest(plan_result: PlanResult, request: Request) -> list[SimilarOperation]:
    """The most similar operations, the best first, each once."""
    assert plan_result.plan is not None
    by_operation = {route.operation.id: route.slash_variables for route in plan_result.plan.routes}
    mounts = {
        m for s in plan_result.specifications.values() for m in _mounts(s.operations.values())
    }
    best: dict[str, SimilarOperation] = {}
    for specification in plan_result.specifications.values():
        for operation in specification.operations.values():
            for near in _candidates(operation, by_operation, mounts, request):
                best_match = best.get(operation.id)
                if best_match is None or _rank(near) < _rank(best_match):
                    best[operation.id] = near
    return sorted(best.values(), key=_rank)[:MAX_OPERATIONS]


def _rank(near: SimilarOperation) -> tuple[int, float]:
    return _RANKS.index(near.difference), -near.similarity


def _mounts(operations: Iterable[Operation]) -> set[str]:
    return {mount for operation in operations for mount in operation.mounts}


def _candidates(
    operation: Operation,
    by_operation: dict[str, tuple[str, ...]],
    mounts: Collection[str],
    request: Request,
) -> Iterator[SimilarOperation]:
    """The operation under each mount where it is similar to the request."""
    path = request.target.partition("?")[0]
    method = request.method.upper()
    slash_variables = by_operation.get(operation.id, ())
    for template, mount in operation.templates:
        if not _fits(template, path, slash_variables):
            near = _similar(operation, mount, mounts, slash_variables, path)
            if near is not None:
                less = 0.1 if method != operation.method else 0.0
                yield near._replace(similarity=near.similarity - less)
        elif operation.id not in by_operation:
            reason = f"no route serves it; name {operation.id} in a route's operations"
            yield SimilarOperation(operation, template, "route", reason, 1.0)
        elif method != operation.method:
            reason = f"it takes {operation.method}, not {method}"
            yield SimilarOperation(operation, template, "method", reason, 1.0)


def _similar(
    operation: Operation,
    mount: str,
    mounts: Collection[str],
    slash_variables: tuple[str, ...],
    path: str,
) -> SimilarOperation | None:
    """The operation under a mount whose path does not match, None if it is not similar."""
    template = mount + operation.path
    similarity = SequenceMatcher(None, _filled(template, path), path).ratio()
    (stem, colon, verb_sent), verb = path.rpartition(":"), template.rpartition("}:")[2]
    if "}:" in template and colon and _fits(template, f"{stem}:{verb}", slash_variables):
        reason = f"its verb is ':{verb}', not ':{verb_sent}'"
        return SimilarOperation(operation, template, "verb", reason, similarity)
    if (prefix := _other_mount(operation, path, slash_variables, mounts)) is not None:
        actual = f"'{prefix}'" if prefix else "the root"
        where = f"'{mount}'" if mount else "the root"
        reason = f"it is mounted at {where}, not at {actual}"
        return SimilarOperation(operation, template, "mount", reason, similarity)
    if similarity >= _ALIKE and _misspelt(template, path):
        return SimilarOperation(operation, template, "path", _differs(template, path), similarity)
    return None


def _fits(template: str, path: str, slash_variables: tuple[str, ...]) -> bool:
    tree = PathTree()
    tree.add(template, "GET", None, slash_variables)
    return isinstance(tree.find(path, "GET"), PathMatch)


def _other_mount(
    operation: Operation, path: str, slash_variables: tuple[str, ...], mounts: Collection[str]
) -> str | None:
    """The prefix under which the path would match the operation; None if there is none."""
    if all(variables(segment) for segment in operation.path.split("/")[1:]):
        return None  # it matches the end of any path
    at = 0
    while at >= 0:
        prefix = path[:at]
        plausible = not prefix or prefix in mounts or _VERSION.fullmatch(prefix)
        if plausible and _fits(operation.path, path[at:], slash_variables):
            return prefix
        at = path.find("/", at + 1)
    return None


def _filled(template: str, path: str) -> str:
    """The template with its variables replaced by the segments of the path."""
    segments_sent = path.split("/")
    segments = []
    for index, segment in enumerate(template.split("/")):
        fills = "{" in segment and index < len(segments_sent)
        segments.append(segments_sent[index] if fills else segment)
    return "/".join(segments)


def _misspelt(template: str, path: str) -> bool:
    """Whether each segment that differs is similar to that of the template."""
    pairs = zip(template.split("/"), path.split("/"), strict=False)
    return all(
        SequenceMatcher(None, expected, segments_sent).ratio() >= _ALIKE
        for expected, segments_sent in pairs
        if "{" not in expected
    )


def _differs(template: str, path: str) -> str:
    expected, segments_sent = template.split("/"), path.split("/")
    for index, segment in enumerate(expected):
        if index >= len(segments_sent):
            return f"the path ends before '{segment}'"
        if "{" not in segment and segments_sent[index] != segment:
            return f"the path has '{segments_sent[index]}' instead of '{segment}'"
    if len(segments_sent) > len(expected):
        return f"the path continues with '{'/'.join(segments_sent[len(expected) :])}'"
    return f"its path is {template}"


def alternatives_of(route: Route, plan: Plan) -> list[Route]:
    """The routes of operations that may be chosen for requests of this one, itself included."""
    operation = route.operation
    return [
        other
        for other in plan.routes
        if other is route
        or (
            other.hosts == route.hosts
            and other.operation.query == operation.query
            and other.operation.is_alternative(operation)
        )
    ]


def narrow_plan(plan: Plan, path: str) -> Plan:
    """The plan with only the routes that may match this path, so that a rehearsal does not build
    ten thousand. All routes if none matches, or if the path may end in an unknown verb, because the
    router's message then names others.
    """
    segments = path.split("/")
    if ":" in segments[-1]:
        return plan
    routes = tuple(route for route in plan.routes if _may_be(route, segments))
    return replace(plan, routes=routes) if routes else plan


def _may_be(route: Route, segments: list[str]) -> bool:
    return any(
        _may_match(template, route.slash_variables, segments) for template, _ in route.templates
    )


def _may_match(template: str, slash_variables: tuple[str, ...], segments: list[str]) -> bool:
    """Whether the literal segments match the path, up to a variable of several segments."""
    expected = template.split("/")
    for index, segment in enumerate(expected):
        if index >= len(segments):
            return False
        if "{" not in segment:
            if unquote(segment) != unquote(segments[index]):
                return False
        elif any(name in slash_variables for name in variables(segment)):
            return True
    return len(expected) == len(segments)
