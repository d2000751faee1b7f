"""The verdict of each policy on a request, and the amounts that limits take."""

from __future__ import annotations

from typing import Any

from engine import policies
from engine.offline.rehearsal.observation import QuotaTake, Rehearsal
from engine.plan.route import Route
from engine.values.counters import Limit
from engine.values.quota import KINDS, amount_text, unit_text, window_text


def verdicts(route: Route, rehearsal: Rehearsal, currency: str) -> list[dict[str, Any]]:
    """`{policy, runs, verdict, says}` of each policy in the order they run, then of the token's
    limits. `runs` is a `Moment`."""
    moments = list(policies.Moment)
    in_order = sorted(
        route.policies, key=lambda policy: moments.index(policies.moment_of(policy.name))
    )
    remaining_takes = list(rehearsal.limits)
    verdict_list = []
    for policy in in_order:
        row = {"policy": policy.name, "runs": policies.moment_of(policy.name).value}
        quota = policies.quota_of(policy, currency)
        if quota is not None:
            taking = _take_of(remaining_takes, policy.name)
            verdict_list.append(row | _quota_verdict(rehearsal, taking, quota.kind, currency))
        else:
            verdict_list.append(row | _policy_verdict(rehearsal, policy.name))
    for take in remaining_takes:
        kind = take[0].key.split("/")[1]
        row = {"policy": f"the token's own {kind}", "runs": policies.Moment.LIMIT.value}
        verdict_list.append(row | _quota_verdict(rehearsal, take, kind, currency))
    return verdict_list


def _take_of(remaining_takes: list[QuotaTake], name: str) -> QuotaTake | None:
    """Remove and return the next take of this policy."""
    for index, (limit, _) in enumerate(remaining_takes):
        if limit.key.startswith(f"{name}/"):
            return remaining_takes.pop(index)
    return None


def _quota_verdict(
    rehearsal: Rehearsal, take: QuotaTake | None, kind: str, currency: str
) -> dict[str, str]:
    if take is None:
        return {"verdict": "not reached", "says": ""}
    limit, cost = take
    over = rehearsal.refused_by == "limit" and cost > limit.amount
    reason = _would_take(limit, cost, kind, currency)
    return {"verdict": "refused" if over else "passed", "says": reason}


def _policy_verdict(rehearsal: Rehearsal, name: str) -> dict[str, str]:
    step = rehearsal.step(name)
    if step is None:
        return {"verdict": "not reached", "says": ""}
    if step.passed or rehearsal.error is None:
        return {"verdict": "passed", "says": ""}
    return {"verdict": "refused", "says": rehearsal.error.message}


def _would_take(limit: Limit, cost: int, kind: str, currency: str) -> str:
    sharer_name = limit.key.partition("|")[2]
    row = KINDS[kind]
    amount, amount_taken = amount_text(row, limit.amount), amount_text(row, cost)
    per = f" per {window_text(limit.window)}" if limit.window else ""
    sharer = f" of {sharer_name}" if sharer_name else ""
    return f"would take {amount_taken} of {amount} {unit_text(row, currency)}{per}{sharer}"
