"""A route that anybody may call."""

from __future__ import annotations

from engine.offline.audit import Case


def check(case: Case) -> None:
    for route in case.config.routes:
        guards = [policy.name for policy in (*case.config.policies, *route.policies)]
        if route.public and "allow_ips" not in guards:
            message = "anybody who reaches the gateway may call this route"
            hint = "take `auth: none` out, or name who may come: policies: [allow_ips: [...]]"
            case.warn((*route.at, "auth"), "MW403", message, hint)
