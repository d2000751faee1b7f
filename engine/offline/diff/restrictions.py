"""Comparison of quotas and allow lists: whether the new one allows more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Network

from msgspec.structs import replace

from engine.values.calendar import Calendar
from engine.values.client_address import Network, networks
from engine.values.quota import KINDS, Quota, amount_text, unit_text
from engine.values.quota_window import window_seconds, window_text
from engine.values.units import format_names
from engine.values.wildcard import matches


def compare_quotas(old: Quota, new: Quota) -> int:
    """1 if `new` allows more at once or in the long run, -1 if it allows only less, else 0.

    Windows of the calendar allow twice the amount at once, around their end.
    """
    pairs: list[tuple[float, float]] = [(_at_once(old), _at_once(new))]
    if old.window and new.window:
        rates = [quota.amount / window_seconds(quota.window) for quota in (old, new)]
        pairs.append((rates[0], rates[1]))
    if any(after > before for before, after in pairs):
        return 1
    return -1 if any(after < before for before, after in pairs) else 0


def is_moved(old: Quota, new: Quota) -> bool:
    """Whether the quotas differ only in the time at which their calendar windows begin."""
    if not (isinstance(old.window, Calendar) and isinstance(new.window, Calendar)):
        return False
    return (old.amount, old.window.period) == (new.amount, new.window.period)


def is_same_bound(old: Quota, new: Quota) -> bool:
    """Whether the quotas differ in their warnings at most."""
    return replace(old, warn_at=()) == replace(new, warn_at=())


def warnings_text(quota: Quota) -> str:
    """`warns at 80% and 100%`."""
    shares = [f"{percent}%" for percent in quota.warn_at]
    return f"warns at {' and '.join(shares)}" if shares else "does not warn"


def _at_once(quota: Quota) -> int:
    return quota.amount * (2 if isinstance(quota.window, Calendar) else 1)


def quota_text(quota: Quota, currency: str) -> str:
    """`60 requests per 1m`."""
    kind = KINDS[quota.kind]
    amount = f"{amount_text(kind, quota.amount)} {unit_text(kind, currency)}"
    return amount + (f" per {window_text(quota.window)}" if quota.window else "")


Names = Sequence[str] | None
"""Names or wildcards that are allowed; None allows all."""


def additions(old: Names, new: Names, covers: Callable[[str, str], bool] = matches) -> list[str]:
    """The entries of `new` that allow more than `old`; `*` for everything."""
    if old is None:
        return []
    if new is None:
        return ["*"]
    return [name for name in new if not any(covers(name, pattern) for pattern in old)]


def network_covers(text: str, outer_text: str) -> bool:
    """Whether every address of one network is in the other."""
    (inner,), (outer,) = networks([text]), networks([outer_text])
    return is_subnet(inner, outer)


def is_subnet(inner: Network, outer: Network) -> bool:
    """Whether every address of `inner` is in `outer`."""
    if isinstance(inner, IPv4Network) and isinstance(outer, IPv4Network):
        return inner.subnet_of(outer)
    if isinstance(inner, IPv4Network) or isinstance(outer, IPv4Network):
        return False
    return inner.subnet_of(outer)


def origin_covers(origin: str, outer_text: str) -> bool:
    """Whether one origin of `cors.origins` includes another."""
    return outer_text in ("*", origin)


def listed(names: Sequence[str]) -> str:
    """At most five of the names, as text."""
    return format_names(names, 5)
