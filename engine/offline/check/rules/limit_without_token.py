"""A limit per token on a public route, where it counts per address."""

from __future__ import annotations

from engine import policies
from engine.offline.check.audit import AuditCase
from engine.source.problem import Path


def check(case: AuditCase) -> None:
    warned: set[Path] = set()
    for route in case.config.routes:
        if not route.allows_anonymous:
            continue
        for policy, _ in case.limits_of((*case.config.policies, *route.policies)):
            if "token" in policies.sharing_of(policy).kinds and policy.at not in warned:
                warned.add(policy.at)
                message = f"'{policy.name}' is per token, but a route with it takes no tokens"
                hint = (
                    "it counts per address; write `by: all` or `by: route` to count them together"
                )
                case.warn(policy.at, "MW410", message, hint, key=True)
