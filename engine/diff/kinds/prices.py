"""What models cost: what limits of money are counted at."""

from __future__ import annotations

from collections.abc import Iterator

from engine.diff.difference import Difference, Level, Side


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.prices, new.config.prices
    for name, was in before.items():
        now = after.get(name)
        subject = (f"price {name}",)
        if now is None:
            words = "is gone: limits of money no longer count it"
            place = old.place(("prices", name), key=True)
            yield Difference(Level.WEAKER, "price-removed", place, subject, words)
        elif now != was:
            place = new.place(("prices", name), key=True)
            yield Difference(Level.CHANGED, "price-changed", place, subject, "is another")
    for name in after:
        if name not in before:
            place = new.place(("prices", name), key=True)
            yield Difference(Level.ADDED, "price-added", place, (f"price {name}",), "is counted")
    if old.config.currency != new.config.currency:
        words = f"currency is {new.config.currency}, was {old.config.currency}"
        place = new.place(("currency",))
        yield Difference(Level.CHANGED, "currency-changed", place, ("prices",), words)
