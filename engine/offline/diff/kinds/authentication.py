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
        if route.anonymous and (before is None or not before.anonymous):
            words = "requires no token (auth: none)"
            yield Difference(Effect.WEAKER, "auth-none", new.place(route.at), (name,), words)
        elif before is not None and before.anonymous and not route.anonymous:
            words = "requires a token now"
            yield Difference(Effect.BREAKING, "auth-required", new.place(route.at), (name,), words)
        if before is None or route.anonymous or before.carriers == route.carriers:
            continue
        place = _place(new, route)
        for carrier in route.carriers:
            if carrier not in before.carriers:
                words = f"also accepts a token from {_carrier_text(carrier)}"
                is_exposed = carrier.kind in _EXPOSED_CARRIERS
                level = Effect.WEAKER if is_exposed else Effect.CHANGED
                yield Difference(level, "carrier-added", place, (name,), words)
        for carrier in before.carriers:
            if carrier not in route.carriers:
                words = f"no longer accepts a token from {_carrier_text(carrier)}"
                yield Difference(Effect.BREAKING, "carrier-removed", place, (name,), words)


def _place(side: Side, route: Route) -> Place:
    """The place that declares the carriers: in the config, else in the document."""
    spec = side.config.specs[route.operation.spec]
    return side.place((*spec.at, "token")) if spec.token else of_operation(route.operation)


def _carrier_text(carrier: Carrier) -> str:
    if carrier.kind in ("bearer", "basic"):
        return f"Authorization: {carrier.kind.capitalize()}"
    return f"{carrier.kind} {carrier.name}"
