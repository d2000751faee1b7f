"""A limit by something that no caller has, or that each caller may choose."""

from __future__ import annotations

from engine import policies
from engine.config.routes import Policy
from engine.offline.check.audit import AuditCase
from engine.values.quota_sharers import Sharer, Sharing
from engine.values.wildcard import matches


def check(case: AuditCase) -> None:
    routes = [*case.config.routes]
    by_route = [(*case.config.policies, *route.policies) for route in routes]
    for policy in case.listed_policies:
        if not policies.is_limit(policy.name):
            continue
        for sharer in policies.sharing_of(policy).sharers:
            _check(case, policy, sharer)
        together = [listed for listed in by_route if policy in listed]
        if _is_free(policies.sharing_of(policy)) and not all(
            _has_other(case, policy, listed) for listed in together
        ):
            message = f"callers choose what '{policy.name}' counts by, and so how much they may do"
            hint = "add a limit of the same kind by token or team, or name `trusted` callers"
            case.warn(policy.at, "MW488", message, hint, key=True)


def _check(case: AuditCase, policy: Policy, sharer: Sharer) -> None:
    """Warn of a limit by something that no caller of the file has."""
    config, message, hint = case.config, "", ""
    if sharer.kind == "claim" and not config.jwt:
        message = "no caller has claims: `callers.jwt` names no issuer"
        hint = "requests without the claim share one count"
    elif sharer.kind == "team" and config.stores.records is None and not _has_teams(case):
        message, hint = "no token names a team", "requests without a team share one count"
    elif sharer.trusted is not None and config.stores.records is None and not config.jwt:
        names = [caller.name for caller in config.tokens.values()]
        lost = [
            pattern
            for pattern in sharer.trusted
            if not any(matches(name, pattern) for name in names)
        ]
        if lost:
            message, hint = (
                f"no token has the name '{lost[0]}'",
                "correct or remove it in `trusted`",
            )
    if message:
        case.warn(policy.at, "MW487", f"'{policy.name}': {message}", hint, key=True)


def _has_teams(case: AuditCase) -> bool:
    by_claim = any("team" in issuer.claims for issuer in case.config.jwt)
    return by_claim or any(caller.team for caller, _ in case.config.callers())


def _is_free(sharing: Sharing) -> bool:
    """Whether every caller can choose what it is counted by."""
    return any(
        sharer.kind in ("header", "body") and (sharer.trusted is None or "*" in sharer.trusted)
        for sharer in sharing.sharers
    )


def _has_other(case: AuditCase, policy: Policy, listed: tuple[Policy, ...]) -> bool:
    """Whether another limit of the same kind is beside one that callers can choose."""
    quota = policies.quota_of(policy, case.config.currency)
    return any(
        kind == (quota and quota.kind) and not _is_free(policies.sharing_of(other))
        for other, kind in case.limits_of(listed)
        if other is not policy
    )
