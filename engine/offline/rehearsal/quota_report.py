"""What each policy says of a request, in words, and what the limits would take."""

from __future__ import annotations

from typing import Any

from engine import policies
from engine.offline.rehearsal.observation import Seen, Taking
from engine.plan.route import Route
from engine.values.counters import Limit
from engine.values.quota import KINDS, amount_text, unit_text
from engine.values.units import duration_text


def verdicts(route: Route, seen: Seen, currency: str) -> list[dict[str, Any]]:
    """`{policy, verdict, says}` of each policy in its order, then of the token's own limits."""
    asked = list(seen.limits)
    found = []
    for policy in route.policies:
        quota = policies.quota_of(policy, currency)
        if quota is not None:
            taking = _taken(asked, policy.name)
            found.append({"policy": policy.name, **_held(seen, taking, quota.kind, currency)})
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
    row = KINDS[kind]
    amount, taken = amount_text(row, limit.amount), amount_text(row, cost)
    per = f" per {duration_text(limit.window)}" if limit.window else ""
    sharer = f" of {who}" if who else ""
    return f"would take {taken} of {amount} {unit_text(row, currency)}{per}{sharer}"
