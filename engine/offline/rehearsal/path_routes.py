"""The routes of a path: those that may serve it, and the nearest ones where none does."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from typing import NamedTuple
from urllib.parse import unquote

from engine.offline.rehearsal.observation import Request
from engine.plan.route import Plan, PlanResult, Route
from engine.spec.operation import Operation
from engine.spec.path_templates import Found, PathTree, variables

MOST = 3
_ALIKE = 0.72
_RANKS = ("route", "verb", "method", "mount", "path")
_VERSION = re.compile(r"/v[0-9]\w*")


class Near(NamedTuple):
    """An operation that comes near: `kind` is what differs (route, verb, method, mount, path)."""

    operation: Operation
    template: str
    kind: str
    why: str
    alike: float


def nearest(planned: PlanResult, request: Request) -> list[Near]:
    """The nearest operations, the best first, each once."""
    assert planned.plan is not None
    served = {route.operation.id: route.wide for route in planned.plan.routes}
    mounts = {m for s in planned.specifications.values() for m in _mounts(s.operations.values())}
    best: dict[str, Near] = {}
    for specification in planned.specifications.values():
        for operation in specification.operations.values():
            for near in _candidates(operation, served, mounts, request):
                known = best.get(operation.id)
                if known is None or _rank(near) < _rank(known):
                    best[operation.id] = near
    return sorted(best.values(), key=_rank)[:MOST]


def _rank(near: Near) -> tuple[int, float]:
    return _RANKS.index(near.kind), -near.alike


def _mounts(operations: Iterable[Operation]) -> set[str]:
    return {mount for one in operations for mount in one.mounts}


def _candidates(
    operation: Operation,
    served: dict[str, tuple[str, ...]],
    mounts: Collection[str],
    request: Request,
) -> Iterator[Near]:
    path = request.target.partition("?")[0]
    method = request.method.upper()
    wide = served.get(operation.id, ())
    for mount in operation.mounts:
        template = mount + operation.path
        if _fits(template, path, wide):
            if operation.id not in served:
                why = f"no route serves it; name {operation.id} in a route's operations"
                yield Near(operation, template, "route", why, 1.0)
            elif method != operation.method:
                yield Near(
                    operation, template, "method", f"it takes {operation.method}, not {method}", 1.0
                )
            continue
        alike = SequenceMatcher(None, _filled(template, path), path).ratio()
        if method != operation.method:
            alike -= 0.1
        said, verb = path.rpartition(":"), template.rpartition("}:")[2]
        if "}:" in template and said[1] and _fits(template, f"{said[0]}:{verb}", wide):
            why = f"its verb is ':{verb}', not ':{said[2]}'"
            yield Near(operation, template, "verb", why, alike)
        elif (prefix := _other_mount(operation, path, wide, mounts)) is not None:
            shown = f"'{prefix}'" if prefix else "the root"
            where = f"'{mount}'" if mount else "the root"
            yield Near(
                operation, template, "mount", f"it stands under {where}, not under {shown}", alike
            )
        elif alike >= _ALIKE and _misspelt(template, path):
            yield Near(operation, template, "path", _differs(template, path), alike)


def _fits(template: str, path: str, wide: tuple[str, ...]) -> bool:
    tree = PathTree()
    tree.add(template, "GET", None, wide)
    return isinstance(tree.find(path, "GET"), Found)


def _other_mount(
    operation: Operation, path: str, wide: tuple[str, ...], mounts: Collection[str]
) -> str | None:
    """The prefix under which the path would be the operation's; None when there is none."""
    if all(variables(segment) for segment in operation.path.split("/")[1:]):
        return None  # it fits the end of anything
    at = 0
    while at >= 0:
        prefix = path[:at]
        plausible = not prefix or prefix in mounts or _VERSION.fullmatch(prefix)
        if plausible and _fits(operation.path, path[at:], wide):
            return prefix
        at = path.find("/", at + 1)
    return None


def _filled(template: str, path: str) -> str:
    """The template with its variables as the path has them, as far as segments go."""
    said = path.split("/")
    made = []
    for index, segment in enumerate(template.split("/")):
        taken = "{" in segment and index < len(said)
        made.append(said[index] if taken else segment)
    return "/".join(made)


def _misspelt(template: str, path: str) -> bool:
    """Whether each segment that differs looks like the one that stands there."""
    pairs = zip(template.split("/"), path.split("/"), strict=False)
    return all(
        SequenceMatcher(None, wanted, said).ratio() >= _ALIKE
        for wanted, said in pairs
        if "{" not in wanted
    )


def _differs(template: str, path: str) -> str:
    wanted, said = template.split("/"), path.split("/")
    for index, segment in enumerate(wanted):
        if index >= len(said):
            return f"the path ends before '{segment}'"
        if "{" not in segment and said[index] != segment:
            return f"the path says '{said[index]}' where it has '{segment}'"
    if len(said) > len(wanted):
        return f"the path goes on with '{'/'.join(said[len(wanted) :])}'"
    return f"its path is {template}"


def narrowed(plan: Plan, path: str) -> Plan:
    """The plan with the routes among which the router has to choose for this path.

    All of them where the path leads to none, or may name a verb that there is not: the router's
    words then tell of the others.
    """
    segments = path.split("/")
    if ":" in segments[-1]:
        return plan
    kept = tuple(route for route in plan.routes if _may_be(route, segments))
    return replace(plan, routes=kept) if kept else plan


def _may_be(route: Route, segments: list[str]) -> bool:
    return any(_may_match(template, route.wide, segments) for template, _ in route.templates)


def _may_match(template: str, wide: tuple[str, ...], segments: list[str]) -> bool:
    """Whether literal segments are those of the path, as far as variables do not span several."""
    wanted = template.split("/")
    for index, segment in enumerate(wanted):
        if index >= len(segments):
            return False
        if "{" not in segment:
            if unquote(segment) != unquote(segments[index]):
                return False
        elif any(name in wide for name in variables(segment)):
            return True
    return len(wanted) == len(segments)
