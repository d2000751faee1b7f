"""Operations with another name: callers see no difference, but the config may name them."""

from __future__ import annotations

from collections.abc import Iterator

from engine.config.config import Config
from engine.config.routes import Policy
from engine.offline.diff.difference import Difference, Effect, Side
from engine.plan.route import Route
from engine.values.wildcard import matches


def differences(old: Side, new: Side) -> Iterator[Difference]:
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
