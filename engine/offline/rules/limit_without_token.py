"""A limit for each token, where callers have none: it counts for each address instead."""

from __future__ import annotations

from engine.config.model import Policy
from engine.offline.audit import Case
from engine.source.problem import Path


def check(case: Case) -> None:
    warned: set[Path] = set()
    for route in case.config.routes:
        if not route.public:
            continue
        for policy, _ in case.limits_of((*case.config.policies, *route.policies)):
            if _by(policy) == "token" and policy.at not in warned:
                warned.add(policy.at)
                message = f"'{policy.name}' is per token, but a route it guards is called without"
                hint = "there it counts per address; say `by: all` or `by: route` to count together"
                case.warn(policy.at, "MW410", message, hint, key=True)


def _by(policy: Policy) -> str:
    value = policy.options.get("by", "token") if isinstance(policy.options, dict) else ""
    return str(value)
