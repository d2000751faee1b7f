"""Operations that a config adds or removes, and their paths."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side, of_operation
from engine.plan.route import HOSTS, Route
from engine.spec.document import path_templates
from engine.spec.operation import Operation


def differences(old: Side, new: Side) -> Iterator[Difference]:
    for name, route in old.routes.items():
        if name in new.routes:
            yield from _paths(name, old, new)
            continue
        if hosts := _hosts(route, new):
            message, place = f"is served at other hosts only: {hosts}", old.place(route.at)
        elif name.partition(HOSTS)[0] in new.operations:
            message, place = "is no longer served: no route names it", old.place(route.at)
        elif renamed := _new_names(route.operation, new):
            message = f"is no longer served: it is {renamed[0].id} now, which no route names"
            place = of_operation(renamed[0])
        else:
            message, place = (
                "the operation is no longer in its document",
                of_operation(route.operation),
            )
        yield Difference(Effect.BREAKING, "operation-removed", place, (name,), message)
    for name, route in new.routes.items():
        if name not in old.routes:
            hosts = ", ".join(route.hosts)
            message = f"is served at {hosts} now" if hosts else "is served now"
            yield Difference(Effect.ADDED, "route-added", new.place(route.at), (name,), message)


def _hosts(route: Route, new: Side) -> str:
    """The hosts at which an operation is still served; "" if it is not."""
    others = [r for r in new.routes.values() if r.operation.id == route.operation.id]
    return ", ".join(", ".join(other.hosts) or "those that no route names" for other in others)


def _new_names(operation: Operation, new: Side) -> list[Operation]:
    """The operations of the new side that have the method and path of one that it does not know."""
    served = (operation.method, path_templates.shape(operation.path))
    return [
        each
        for each in new.operations.values()
        if each.spec == operation.spec and (each.method, path_templates.shape(each.path)) == served
    ]


def _paths(name: str, old: Side, new: Side) -> Iterator[Difference]:
    before, after = _served_paths(old, name), _served_paths(new, name)
    place = of_operation(new.routes[name].operation)
    for shape, path in before.items():
        if shape not in after:
            message = f"{path} is no longer served"
            yield Difference(Effect.BREAKING, "path-removed", place, (name,), message)
    for shape, path in after.items():
        if shape not in before:
            yield Difference(Effect.ADDED, "path-added", place, (name,), f"{path} is served now")


def _served_paths(side: Side, name: str) -> dict[str, str]:
    """The methods and paths of an operation, by a form without the names of variables."""
    route = side.routes[name]
    paths = [f"{route.operation.method} {template}" for template, _ in route.templates]
    return {path_templates.shape(path): path for path in paths}
