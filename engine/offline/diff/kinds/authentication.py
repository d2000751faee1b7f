"""What callers must present: whether routes require a token, where requests carry it, and the
credentials that the documents ask for."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side, of_operation
from engine.offline.diff.operation_pairs import difference, pairs
from engine.plan.route import Route
from engine.source.problem import Place
from engine.spec.document.node import Node
from engine.spec.security import Carrier

_EXPOSED_CARRIERS = ("query", "cookie", "basic")
"""Carriers that appear in logs, or that a browser adds by itself."""
_Need = frozenset[str]
"""The schemes that one alternative asks for. Their scopes are the upstream's matter."""


def differences(old: Side, new: Side) -> Iterator[Difference]:
    yield from _of_routes(old, new)
    yield from _of_documents(old, new)


def _of_routes(old: Side, new: Side) -> Iterator[Difference]:
    for name, route in new.routes.items():
        before = old.routes.get(name)
        if route.allows_anonymous and (before is None or not before.allows_anonymous):
            message = "requires no token (auth: none)"
            yield Difference(Effect.WEAKER, "auth-none", new.place(route.at), (name,), message)
        elif before is not None and before.allows_anonymous and not route.allows_anonymous:
            message = "requires a token now"
            yield Difference(
                Effect.BREAKING, "auth-required", new.place(route.at), (name,), message
            )
        if before is None or route.allows_anonymous or before.carriers == route.carriers:
            continue
        place = _place(new, route)
        for carrier in route.carriers:
            if carrier not in before.carriers:
                message = f"also accepts a token from {_carrier_text(carrier)}"
                is_exposed = carrier.kind in _EXPOSED_CARRIERS
                level = Effect.WEAKER if is_exposed else Effect.CHANGED
                yield Difference(level, "carrier-added", place, (name,), message)
        for carrier in before.carriers:
            if carrier not in route.carriers:
                message = f"no longer accepts a token from {_carrier_text(carrier)}"
                yield Difference(Effect.BREAKING, "carrier-removed", place, (name,), message)


def _place(side: Side, route: Route) -> Place:
    """The place that declares the carriers: in the config, else in the document."""
    spec = side.config.specs[route.operation.spec]
    return side.place((*spec.at, "token")) if spec.token else of_operation(route.operation)


def _carrier_text(carrier: Carrier) -> str:
    if carrier.kind in ("bearer", "basic"):
        return f"Authorization: {carrier.kind.capitalize()}"
    return f"{carrier.kind} {carrier.name}"


def _of_documents(old: Side, new: Side) -> Iterator[Difference]:
    """Alternatives (`security`) that ask for less or more. Where `specs.x.token` says where a token
    is, they have no effect."""
    for pair in pairs(old, new):
        before, after = _alternatives(pair.old), _alternatives(pair.new)
        has_effect = not new.config.specs[pair.after.spec].token
        easier = [need for need in after if not any(need >= other for other in before)]
        harder = [need for need in before if not any(need >= other for other in after)]
        security = _requirements(pair.new)
        place = security if security.value is not None else None
        for need in easier:
            level = Effect.WEAKER if has_effect else Effect.CHANGED
            message = f"the document also accepts {_need_text(need)} now"
            yield difference(pair, level, "security-alternative-added", place, message)
        for need in harder:
            level = Effect.BREAKING if has_effect else Effect.CHANGED
            message = f"the document no longer accepts {_need_text(need)} alone"
            yield difference(pair, level, "security-alternative-removed", place, message)


def _alternatives(operation: Node) -> list[_Need]:
    """The alternatives of an operation, or of its document; one that asks for nothing without
    any."""
    elements = _requirements(operation).elements()
    needs = [frozenset(map(str, each.value)) for each in elements if isinstance(each.value, dict)]
    return needs or [frozenset()]


def _requirements(operation: Node) -> Node:
    security = operation.get("security")
    return security if security.value is not None else operation.library.document.get("security")


def _need_text(need: _Need) -> str:
    return " with ".join(sorted(need)) or "requests without credentials"
