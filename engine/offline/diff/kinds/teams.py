"""Teams of the config: what their members may do, and the limits that they share."""

from __future__ import annotations

from collections.abc import Iterator

from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.kinds.tokens import allowed_differences, limit_differences
from engine.source.problem import Place
from engine.values.caller import Team

_ALLOWED = ("models", "operations", "regions")


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.teams.by_name, new.config.teams.by_name
    for name, team in before.items():
        if name not in after:
            place = old.place(("teams", name), key=True)
            effect = Effect.WEAKER if _restricts(team) else Effect.REMOVED
            message = "the team is removed: its members keep what their tokens allow"
            yield Difference(effect, "team-removed", place, (f"team {name}",), message)
    for name, team in after.items():
        place, subject = new.place(("teams", name), key=True), (f"team {name}",)
        if name not in before:
            message = "a new team: what it allows and its limits hold for whoever names it"
            yield Difference(Effect.ADDED, "team-added", place, subject, message)
            continue
        yield from _parent(before[name], team, old, place, subject)
        yield from allowed_differences(_ALLOWED, "team", before[name], team, place, subject)
        currency = new.config.currency
        yield from limit_differences(before[name].limits, team.limits, place, subject, currency)


def _restricts(team: Team) -> bool:
    """Whether members lose a restriction with the team."""
    rights = (team.models, team.operations, team.regions)
    return bool(team.limits or team.parent) or any(names is not None for names in rights)


def _parent(
    was: Team, now: Team, old: Side, place: Place, subject: tuple[str, ...]
) -> Iterator[Difference]:
    if was.parent == now.parent:
        return
    message = f"is in {_name(now.parent)}, was in {_name(was.parent)}"
    old_line = old.config.teams.line(was.parent)
    effect = Effect.WEAKER if any(map(_restricts, old_line)) else Effect.CHANGED
    yield Difference(effect, "team-parent", place, subject, message)


def _name(team: str) -> str:
    return f"team '{team}'" if team else "no team"
