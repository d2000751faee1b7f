"""The order of the policies that run in the order of the config: what a `deny` judges depends on
the transforms before it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from engine.config.routes import Policy
from engine.offline.diff.difference import Difference, Effect, Side
from engine.plan.route import Route
from engine.policies import moments, transform_of
from engine.policies.interface import Moment


def differences(old: Side, new: Side) -> Iterator[Difference]:
    for name, route in new.routes.items():
        was = old.routes.get(name)
        if was is None:
            continue
        before, after = _written(was, old), _written(route, new)
        common = {key for key, _ in before} & {key for key, _ in after}
        steps = [(key, policy) for key, policy in after if key in common]
        order = [key for key, _ in before if key in common]
        if [key for key, _ in steps] == order:
            continue
        for index, (key, policy) in enumerate(steps):
            if transform_of(policy):
                continue
            edits = _edits(steps[:index])
            former = _edits([step for step in before if step[0] in order[: order.index(key)]])
            if edits != former:
                message = f"{policy.name} judges requests {_behind(edits)}, was {_behind(former)}"
                place = new.place(policy.at, key=True)
                yield Difference(Effect.WEAKER, "policy-order", place, (name,), message)
                break
        else:
            if not all(transform_of(policy) for _, policy in steps):
                message = "the policies of the route are in another order"
                place = new.place(steps[0][1].at, key=True)
                yield Difference(Effect.CHANGED, "policy-order", place, (name,), message)


def _written(route: Route, side: Side) -> list[tuple[str, Policy]]:
    """The policies that run as they are written, each by its name and options."""
    currency, by_model = side.config.currency, route.model is not None
    return [
        (f"{policy.name} {json.dumps(policy.options, sort_keys=True, default=str)}", policy)
        for policy, moment in moments(route.policies, currency, by_model=by_model)
        if moment is Moment.WRITTEN
    ]


def _edits(steps: Sequence[tuple[str, Policy]]) -> list[str]:
    return sorted(key for key, policy in steps if transform_of(policy))


def _behind(edits: Sequence[str]) -> str:
    count = len(edits)
    return f"behind {count} transform{'s' if count > 1 else ''}" if count else "as they came"
