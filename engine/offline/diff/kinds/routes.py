"""Routes: the operations that a config adds, removes and renames, their paths, and the order of the
policies that run as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from engine.config.config import Config
from engine.config.routes import Policy
from engine.offline.diff.difference import Difference, Effect, Side, of_operation
from engine.plan.route import HOSTS, Route
from engine.policies import moments, transform_of
from engine.policies.interface import Moment
from engine.spec.document import path_templates
from engine.spec.operation import Operation
from engine.values.wildcard import matches


def differences(old: Side, new: Side) -> Iterator[Difference]:
    yield from _served(old, new)
    yield from _renamed(old, new)
    yield from _reordered(old, new)


def _served(old: Side, new: Side) -> Iterator[Difference]:
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


def _renamed(old: Side, new: Side) -> Iterator[Difference]:
    """Operations with another name: callers see no difference, but the config may name them."""
    for key, route in new.routes.items():
        was = old.routes.get(key)
        if was is None or was.operation.id == route.operation.id:
            continue
        former, name = was.operation.id, route.operation.id
        for where, patterns in _named(old.config, was.policies, former):
            now = dict(_named(new.config, route.policies, name)).get(where)
            if now is None:
                continue  # `tokens`, `models` and `limits` compare it
            yield from _rights(new, route, former, where, patterns, now)
        holders = _holders(old, former)
        if holders:
            message = f"is another name of {former}, which {', '.join(holders)} named"
            place = new.place(route.at)
            yield Difference(Effect.CHANGED, "operation-renamed", place, (name,), message)


def _rights(
    new: Side,
    route: Route,
    former: str,
    where: str,
    before: tuple[str, ...],
    after: tuple[str, ...],
) -> Iterator[Difference]:
    """The change of the right to call an operation, by wildcards that match only one name."""
    name = route.operation.id
    could = any(matches(former, pattern) for pattern in before)
    can = any(matches(name, pattern) for pattern in after)
    if could == can:
        return
    level = Effect.WEAKER if can else Effect.BREAKING
    kind = "rename-allowed" if can else "rename-refused"
    message = (
        f"was {former}: {where} {'allows' if can else 'no longer allows'} it under its new name"
    )
    yield Difference(level, kind, new.place(route.at), (name,), message)


def _named(
    config: Config, policies: tuple[Policy, ...], name: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The lists of operations that decide who may call one, by their names."""
    for caller in config.tokens.values():
        if caller.operations is not None:
            yield f"token {caller.name}", tuple(caller.operations)
    for model in config.models.values():
        if model.operations:
            yield f"model {model.name}", model.operations
    for policy in policies:
        if policy.name == "allow_operations":
            yield "allow_operations", tuple(policy.options)


def _holders(side: Side, name: str) -> list[str]:
    """The parts of a config that name an operation without a wildcard."""
    routes = side.config.routes
    holders = [
        f"routes[{index}]"
        for index, route in enumerate(routes)
        if any(pattern == name for pattern, _ in route.operations)
    ]
    policies = [policy for route in routes for policy in (*route.policies, *side.config.policies)]
    lists = _named(side.config, tuple(policies), name)
    return [*dict.fromkeys([*holders, *(where for where, names in lists if name in names)])]


def _reordered(old: Side, new: Side) -> Iterator[Difference]:
    """The order of policies: what a `deny` judges depends on the transforms before it."""
    for name, route in new.routes.items():
        was = old.routes.get(name)
        if was is None:
            continue
        before, after = _written(was, old), _written(route, new)
        common = {key for key, _ in before} & {key for key, _ in after}
        steps = [(key, policy) for key, policy in after if key in common]
        order = [key for key, _ in before if key in common]
        if [key for key, _ in steps] == order:
            continue
        for index, (key, policy) in enumerate(steps):
            if transform_of(policy):
                continue
            edits = _edits(steps[:index])
            former = _edits([step for step in before if step[0] in order[: order.index(key)]])
            if edits != former:
                message = f"{policy.name} judges requests {_behind(edits)}, was {_behind(former)}"
                place = new.place(policy.at, key=True)
                yield Difference(Effect.WEAKER, "policy-order", place, (name,), message)
                break
        else:
            if not all(transform_of(policy) for _, policy in steps):
                message = "the policies of the route are in another order"
                place = new.place(steps[0][1].at, key=True)
                yield Difference(Effect.CHANGED, "policy-order", place, (name,), message)


def _written(route: Route, side: Side) -> list[tuple[str, Policy]]:
    """The policies that run as they are written, each by its name and options."""
    currency, by_model = side.config.currency, route.model is not None
    return [
        (f"{policy.name} {json.dumps(policy.options, sort_keys=True, default=str)}", policy)
        for policy, moment in moments(route.policies, currency, by_model=by_model)
        if moment is Moment.WRITTEN
    ]


def _edits(steps: Sequence[tuple[str, Policy]]) -> list[str]:
    return sorted(key for key, policy in steps if transform_of(policy))


def _behind(edits: Sequence[str]) -> str:
    count = len(edits)
    return f"behind {count} transform{'s' if count > 1 else ''}" if count else "as they came"
