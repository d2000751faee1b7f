"""Operations that a config adds or removes, and their paths."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side, of_operation


def differences(old: Side, new: Side) -> Iterator[Difference]:
    for name, route in old.routes.items():
        if name in new.routes:
            yield from _paths(name, old, new)
        elif name in new.operations:
            words = "is no longer served by a route"
            yield Difference(Effect.REMOVED, "route-removed", old.place(route.at), (name,), words)
        else:
            words = "the operation is no longer in its document"
            place = of_operation(route.operation)
            yield Difference(Effect.BREAKING, "operation-removed", place, (name,), words)
    for name, route in new.routes.items():
        if name not in old.routes:
            words = "is served now"
            yield Difference(Effect.ADDED, "route-added", new.place(route.at), (name,), words)


def _paths(name: str, old: Side, new: Side) -> Iterator[Difference]:
    before, after = _served_paths(old, name), _served_paths(new, name)
    if before == after:
        return
    place = of_operation(new.routes[name].operation)
    for path in before:
        if path not in after:
            words = f"{path} is no longer served"
            yield Difference(Effect.BREAKING, "path-removed", place, (name,), words)
    for path in after:
        if path not in before:
            yield Difference(Effect.ADDED, "path-added", place, (name,), f"{path} is served now")


def _served_paths(side: Side, name: str) -> list[str]:
    route = side.routes[name]
    return [f"{route.operation.method} {template}" for template, _ in route.templates]
