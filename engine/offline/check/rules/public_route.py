"""A route without authentication."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    for route in case.config.routes:
        if route.respond is not None:
            continue  # a fixed response costs nothing, and tells what the config says
        guards = [policy.name for policy in (*case.config.policies, *route.policies)]
        if route.allows_anonymous and "allow_ips" not in guards:
            message = "anyone with access to the gateway may call this route"
            hint = "remove `auth: none`, or list the callers: policies: [allow_ips: [...]]"
            case.warn((*route.at, "auth"), "MW403", message, hint)
