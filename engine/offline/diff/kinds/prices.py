"""Prices of models that were added, removed or changed: spending limits depend on them. A price
that changes only with the price that it falls back to is not listed."""

from __future__ import annotations

from collections.abc import Iterator

from engine.config.prices import default_prices
from engine.offline.diff.difference import Difference, Effect, Side
from engine.values.price import PIECES, TOKENS, Price
from engine.values.price_list import TeamPriceList, percent_text


def differences(old: Side, new: Side) -> Iterator[Difference]:
    yield from _of_config(old, new)
    yield from _of_providers(old, new)
    before, after = old.config.team_prices, new.config.team_prices
    for team in dict.fromkeys([*before, *after]):
        was, now = before.get(team, TeamPriceList()), after.get(team, TeamPriceList())
        side = new if team in after else old
        place = side.place(("teams", team, "prices"), key=True)
        for level, kind, message in _list_changes(was, now):
            yield Difference(level, kind, place, (f"team {team}",), message)


def _of_providers(old: Side, new: Side) -> Iterator[Difference]:
    """What a catalog changes of prices at upstreams that both configs have."""
    before, after = default_prices(old.config), default_prices(new.config)
    place = new.place(("providers",), key=True)
    for upstream in before.keys() & after.keys():
        was, now = before[upstream], after[upstream]
        for model in sorted(was.keys() & now.keys()):
            changes = (*_base_changes(was[model], now[model]), *_changes(was[model], now[model]))
            for level, kind, message in changes:
                yield Difference(level, kind, place, (f"price {upstream}/{model}",), message)


def _base_changes(before: Price, after: Price) -> Iterator[tuple[Effect, str, str]]:
    """The changes of the prices that fall back to no other, which `_changes` leaves out."""
    for key in (*(key for key, other in TOKENS.items() if not other), *PIECES):
        old, new = getattr(before, key), getattr(after, key)
        if old != new:
            level = Effect.WEAKER if new < old else Effect.CHANGED
            text = _money if key in TOKENS else _money_each
            yield level, "price-changed", f"{key} is {text(new)}, was {text(old)}"


def _list_changes(was: TeamPriceList, now: TeamPriceList) -> Iterator[tuple[Effect, str, str]]:
    """The level, kind and message of each change of a team's prices."""
    if was.markup != now.markup:
        level = Effect.WEAKER if now.markup < was.markup else Effect.CHANGED
        message = f"pays {percent_text(now.markup)}, was {percent_text(was.markup)}"
        yield level, "team-markup", message
    for name in dict.fromkeys([*was.models, *now.models]):
        if name not in now.models:
            yield Effect.CHANGED, "team-price", f"has no price of its own for {name} any more"
        elif name not in was.models:
            yield Effect.CHANGED, "team-price", f"has a price of its own for {name}"
        elif was.models[name] != now.models[name]:
            cheaper = _is_cheaper(now.models[name], was.models[name])
            level = Effect.WEAKER if cheaper else Effect.CHANGED
            yield level, "team-price", f"has another price of its own for {name}"


def _of_config(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.prices, new.config.prices
    for name in before:
        subject = (f"price {name}",)
        if name not in after:
            message = "is removed: spending limits no longer count it"
            place = old.place(("prices", name), key=True)
            yield Difference(Effect.WEAKER, "price-removed", place, subject, message)
            continue
        place = new.place(("prices", name), key=True)
        for level, kind, message in _changes(before[name], after[name]):
            yield Difference(level, kind, place, subject, message)
    for name in after:
        if name not in before:
            place = new.place(("prices", name), key=True)
            subject, message = (f"price {name}",), "is added: spending limits count it"
            yield Difference(Effect.ADDED, "price-added", place, subject, message)


def _changes(before: Price, after: Price) -> Iterator[tuple[Effect, str, str]]:
    """The level, kind and message of each change of a price. `levels.py` compares the keys without
    a fallback."""
    for key, other in TOKENS.items():
        old, new = getattr(before, key), getattr(after, key)
        if other and old != new and not (_falls_back(before, key) and _falls_back(after, key)):
            level = Effect.WEAKER if new < old else Effect.CHANGED
            yield level, "price-changed", f"{key} is {_money(new)}, was {_money(old)}"
    if before.tiers != after.tiers:
        sizes = {tier.above + 1 for price in (before, after) for tier in price.tiers}
        cheaper = any(_is_cheaper(_at(after, size), _at(before, size)) for size in sizes)
        message = f"has tiers above {_sizes(after)} tokens in, had {_sizes(before)}"
        if _sizes(before) == _sizes(after):
            message = f"has other prices above {_sizes(after)} tokens in"
        yield (Effect.WEAKER if cheaper else Effect.CHANGED), "price-tiers", message


def _falls_back(price: Price, key: str) -> bool:
    return bool(getattr(price, key) == getattr(price, TOKENS[key]))


def _money(atto: int) -> str:
    return f"{atto / 10**12:g} a million"


def _money_each(atto: int) -> str:
    return f"{atto / 10**18:g} each"


def _at(price: Price, size: int) -> Price:
    """The prices of a request of so many tokens in."""
    return next((tier.price for tier in price.tiers if size > tier.above), price)


def _is_cheaper(after: Price, before: Price) -> bool:
    return any(getattr(after, key) < getattr(before, key) for key in (*TOKENS, *PIECES))


def _sizes(price: Price) -> str:
    return ", ".join(str(tier.above) for tier in reversed(price.tiers)) or "none"
