"""The verdict of each policy on a request, and the amounts that limits take."""

from __future__ import annotations

from engine import policies
from engine.config.config import Config
from engine.config.routes import Policy
from engine.offline.rehearsal.observation import QuotaTake, Rehearsal, Step
from engine.plan.route import Route
from engine.policies.interface import Moment
from engine.source.problem import place_of
from engine.values.counters import Limit
from engine.values.quota import KINDS, amount_text, unit_text
from engine.values.quota_sharers import NOBODY, OTHERS
from engine.values.quota_window import window_text
from engine.values.trees import Json

_NAMES = {NOBODY: "requests without a name", OTHERS: "names without room"}


def verdicts(route: Route, rehearsal: Rehearsal, config: Config) -> list[Json]:
    """`{policy, place, moment, verdict, reason}` of each policy in the order they run, then of the
    limits of the token and its teams. `moment` is a `Moment`."""
    order, currency = list(Moment), config.currency
    timed = policies.moments(route.policies, currency, by_model=route.model is not None)
    remaining_takes, steps = list(rehearsal.limits), _Steps(rehearsal)
    rows = []
    for policy, moment in sorted(timed, key=lambda pair: order.index(pair[1])):
        place = str(place_of(config.source, policy.at)) if policy.at else ""
        row = {"policy": policy.name, "place": place, "moment": moment.value}
        quota = policies.quota_of(policy, currency)
        if quota is not None:
            taking = _take_of(remaining_takes, policy.name)
            rows.append(row | _quota_verdict(rehearsal, taking, quota.kind, currency))
        else:
            rows.append(row | _step_verdict(rehearsal, steps.of(policy)))
    for take in remaining_takes:
        kind = take[0].key.split("/")[1]
        last = route.model is not None and KINDS[kind].cost is not None
        moment = Moment.LIMIT if last else Moment.HEAD
        row = {"policy": _owner(take[0], kind), "place": "", "moment": moment.value}
        rows.append(row | _quota_verdict(rehearsal, take, kind, currency))
    return rows


class _Steps:
    """The steps of a rehearsal, each given to its policies in the order they run. Transforms that
    follow one another are one step."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._steps = list(rehearsal.steps)
        self._transform: Step | None = None

    def of(self, policy: Policy) -> Step | None:
        """The step of the next policy; None if it was not reached."""
        if policy.name == "transform" and self._transform is not None:
            return self._transform
        step = next((step for step in self._steps if step.name == policy.name), None)
        if step is not None:
            self._steps.remove(step)
        self._transform = step if policy.name == "transform" else None
        return step


def _take_of(remaining_takes: list[QuotaTake], name: str) -> QuotaTake | None:
    """Remove and return the next take of this policy."""
    for index, (limit, _) in enumerate(remaining_takes):
        if limit.key.startswith(f"{name}/"):
            return remaining_takes.pop(index)
    return None


def _owner(limit: Limit, kind: str) -> str:
    """Whose limit it is that no policy sets."""
    rule, _, sharer = limit.key.partition("|")
    return f"the {kind} of team {sharer}" if rule.startswith("team/") else f"the token's own {kind}"


def _quota_verdict(
    rehearsal: Rehearsal, take: QuotaTake | None, kind: str, currency: str
) -> dict[str, str]:
    if take is None:
        return {"verdict": "not reached", "reason": ""}
    limit, cost = take
    over = rehearsal.refused_by == "limit" and cost > limit.amount
    reason = _would_take(limit, cost, kind, currency)
    return {"verdict": "refused" if over else "passed", "reason": reason}


def _step_verdict(rehearsal: Rehearsal, step: Step | None) -> dict[str, str]:
    if step is None:
        return {"verdict": "not reached", "reason": ""}
    if step.passed or rehearsal.error is None:
        return {"verdict": "passed", "reason": ""}
    return {"verdict": "refused", "reason": rehearsal.error.message}


def _would_take(limit: Limit, cost: int, kind: str, currency: str) -> str:
    sharer_name = limit.key.partition("|")[2]
    row = KINDS[kind]
    amount, amount_taken = amount_text(row, limit.amount), amount_text(row, cost)
    per = f" per {window_text(limit.window)}" if limit.window else ""
    names = [_NAMES.get(name, name) for name in sharer_name.split("|")]
    sharer = f" of {' with '.join(names)}" if sharer_name else ""
    return f"would take {amount_taken} of {amount} {unit_text(row, currency)}{per}{sharer}"
