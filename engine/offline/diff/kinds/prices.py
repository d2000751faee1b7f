"""Models whose price was added or removed: spending limits depend on prices."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.prices, new.config.prices
    for name in before:
        subject = (f"price {name}",)
        if name not in after:
            words = "is removed: limits of money no longer count it"
            place = old.place(("prices", name), key=True)
            yield Difference(Effect.WEAKER, "price-removed", place, subject, words)
    for name in after:
        if name not in before:
            place = new.place(("prices", name), key=True)
            yield Difference(Effect.ADDED, "price-added", place, (f"price {name}",), "is counted")
