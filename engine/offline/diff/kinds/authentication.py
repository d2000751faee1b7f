"""Whether routes require a token, and where requests carry it."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side, of_operation
from engine.plan.route import Route
from engine.source.problem import Place
from engine.spec.security import Carrier

_EXPOSED_CARRIERS = ("query", "cookie", "basic")
"""Carriers that appear in logs, or that a browser adds by itself."""


def differences(old: Side, new: Side) -> Iterator[Difference]:
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
