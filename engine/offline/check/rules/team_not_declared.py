"""A token, or the claim of a signed one, of a team that `teams` does not declare, while others are
declared: often a typo."""

from __future__ import annotations

from collections.abc import Mapping

from engine.config.callers import JwtIssuer
from engine.offline.check.audit import AuditCase
from engine.source.suggestion import did_you_mean
from engine.values.caller import Team


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
    for issuer in case.config.jwt:
        if "team" in issuer.claims and not _is_declared(issuer, teams):
            place = issuer.claims["team"].text
            message = (
                f"the claim '{place}' may name a team that is not declared, or none: nothing but "
                "this entry then restricts its bearer"
            )
            hint = f'list the teams that may come: `require: {{"{place}": [{", ".join(teams)}]}}`'
            case.warn((*issuer.at, "claims", "team"), "MW486", message, hint)


def _is_declared(issuer: JwtIssuer, teams: Mapping[str, Team]) -> bool:
    """Whether an entry requires that the claim has the name of a team of the file."""
    steps = issuer.claims["team"].steps
    return any(place.steps == steps and teams.keys() >= {*names} for place, names in issuer.require)
