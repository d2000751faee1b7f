"""A token of a team that `teams` does not declare, while others are declared: often a typo."""

from __future__ import annotations

from engine.offline.check.audit import AuditCase
from engine.source.suggestion import did_you_mean


def check(case: AuditCase) -> None:
    teams = case.config.teams.by_name
    if not teams:
        return
    for caller, at in case.config.callers():
        if caller.team and caller.team not in teams:
            message = (
                f"team '{caller.team}' is not declared: it has no rights and limits of its own"
            )
            case.warn((*at, "team"), "MW486", message, did_you_mean(caller.team, teams))
