"""Webhooks of a config in which nothing has a warning, so that no event is ever sent."""

from __future__ import annotations

from engine import policies
from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    config = case.config
    if not config.webhooks or config.stores.records is not None:
        return  # tokens in a database may have warnings at any time
    quotas = [quota for caller, _ in config.callers() for quota in caller.limits]
    quotas += [quota for team in config.teams.by_name.values() for quota in team.limits]
    quotas += [
        quota
        for policy in case.listed_policies
        if (quota := policies.quota_of(policy, config.currency)) is not None
    ]
    if any(quota.warn_at for quota in quotas) or any(issuer.warn_at for issuer in config.jwt):
        return
    message = "no event is sent to the webhooks: no limit has 'warn_at'"
    hint = "write warn_at: [80%, 100%] beside a budget"
    case.warn(("webhooks",), "MW516", message, hint, key=True)
