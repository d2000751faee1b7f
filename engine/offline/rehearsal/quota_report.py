"""What each policy says of a request, in words, and what the limits would take."""

from __future__ import annotations

from typing import Any

from engine import policies
from engine.offline.rehearsal.observation import Seen, Taking
from engine.plan.route import Route
from engine.values.counters import Limit
from engine.values.usage import NANO

_UNITS = {"requests": "requests", "tokens": "tokens", "concurrency": "requests at one time"}
_SPANS = (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))


def verdicts(route: Route, seen: Seen, currency: str) -> list[dict[str, Any]]:
    """`{policy, verdict, says}` of each policy in its order, then of the token's own limits."""
    asked = list(seen.limits)
    found = []
    for policy in route.policies:
        module = policies.get(policy.name)
        if hasattr(module, "allowance"):
            kind = module.allowance(policy.options, currency).kind
            found.append(
                {"policy": policy.name, **_held(seen, _taken(asked, policy.name), kind, currency)}
            )
        else:
            found.append({"policy": policy.name, **_passed(seen, policy.name)})
    for one in asked:
        kind = one[0].key.split("/")[1]
        found.append({"policy": f"the token's own {kind}", **_held(seen, one, kind, currency)})
    return found


def _taken(asked: list[Taking], name: str) -> Taking | None:
    """The next limit of this policy, taken out of those asked."""
    for index, (limit, _) in enumerate(asked):
        if limit.key.startswith(f"{name}/"):
            return asked.pop(index)
    return None


def _held(seen: Seen, one: Taking | None, kind: str, currency: str) -> dict[str, str]:
    if one is None:
        return {"verdict": "not reached", "says": ""}
    limit, cost = one
    over = seen.refused_by == "limit" and cost > limit.amount
    says = _would_take(limit, cost, kind, currency)
    return {"verdict": "refused" if over else "passed", "says": says}


def _passed(seen: Seen, name: str) -> dict[str, str]:
    step = seen.step(name)
    if step is None:
        return {"verdict": "not reached", "says": ""}
    if step.passed or seen.error is None:
        return {"verdict": "passed", "says": ""}
    return {"verdict": "refused", "says": seen.error.message}


def _would_take(limit: Limit, cost: int, kind: str, currency: str) -> str:
    who = limit.key.partition("|")[2]
    amount, taken, unit = str(limit.amount), str(cost), _UNITS.get(kind, kind)
    if kind == "spend":
        amount, taken, unit = f"{limit.amount / NANO:g}", f"{cost / NANO:g}", currency
    per = f" per {_span(limit.window)}" if limit.window else ""
    return f"would take {taken} of {amount} {unit}{per}{f' of {who}' if who else ''}"


def _span(seconds: float) -> str:
    for unit, size in _SPANS:
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"
