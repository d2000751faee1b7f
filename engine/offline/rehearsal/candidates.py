"""The routes that a path can lead to: a rehearsal builds those alone, not ten thousand others."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

from engine.plan.route import Plan, Route
from engine.spec.path_templates import variables


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
    return any(_fits(template, route.wide, segments) for template, _ in route.templates)


def _fits(template: str, wide: tuple[str, ...], segments: list[str]) -> bool:
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
