"""Tokens and teams of the config: what callers may do, and their limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.restrictions import (
    additions,
    compare_quotas,
    is_moved,
    is_same_bound,
    listed,
    network_covers,
    quota_text,
    warnings_text,
)
from engine.plan.route import Route
from engine.source.problem import Place
from engine.values.caller import Caller, Team
from engine.values.quota import Quota
from engine.values.wildcard import matches

_COVERS = {
    "models": matches,
    "operations": matches,
    "ips": network_covers,
    "regions": matches,
}
_TEAM_RIGHTS = ("models", "operations", "regions")


def differences(old: Side, new: Side) -> Iterator[Difference]:
    yield from _of_tokens(old, new)
    yield from _of_teams(old, new)


def _of_tokens(old: Side, new: Side) -> Iterator[Difference]:
    before, after = _by_name(old), _by_name(new)
    for name, (_, _, place) in before.items():
        if name not in after:
            message = "the token is removed"
            yield Difference(Effect.REMOVED, "token-removed", place, (f"token {name}",), message)
    for name, (digest, caller, place) in after.items():
        subject = (f"token {name}",)
        if name not in before:
            message = "a new token"
            yield Difference(Effect.ADDED, "token-added", place, subject, message)
            continue
        if before[name][0] != digest:
            message = "has another secret"
            yield Difference(Effect.CHANGED, "token-rotated", place, subject, message)
        if before[name][1].team != caller.team:
            message = f"is in {_team(caller)}, was in {_team(before[name][1])}"
            effect = Effect.WEAKER if _leaves(before[name][1], caller) else Effect.CHANGED
            yield Difference(effect, "token-team", place, subject, message)
        if before[name][1].priority != caller.priority:
            message = f"has {_priority(caller)}, had {_priority(before[name][1])}"
            yield Difference(Effect.CHANGED, "token-priority", place, subject, message)
        was = before[name][1]
        yield from allowed_differences(_COVERS, "token", was, caller, place, subject)
        yield from _expiry(before[name][1], caller, place, subject)
        currency = new.config.currency
        yield from limit_differences(was.limits, caller.limits, place, subject, currency)


def _by_name(side: Side) -> dict[str, tuple[str, Caller, Place]]:
    return {
        caller.name: (digest, caller, side.place(("tokens", index)))
        for index, (digest, caller) in enumerate(side.config.tokens.items())
    }


def _leaves(old: Caller, new: Caller) -> bool:
    """Whether a caller is no longer in a declared team that restricts it."""
    stays = {team.name for team in new.teams}
    return any(
        team.limits
        or any(names is not None for names in (team.models, team.operations, team.regions))
        for team in old.teams
        if team.name not in stays
    )


def allowed_differences(
    fields: Iterable[str],
    kind: str,
    old: Caller | Team | Route,
    new: Caller | Team | Route,
    place: Place,
    subject: tuple[str, ...],
) -> Iterator[Difference]:
    """What a token, a team or a route, which is its `kind`, allows more or less in these fields."""
    for field in fields:
        covers = _COVERS[field]
        before, after = getattr(old, field), getattr(new, field)
        if additional := additions(before, after, covers):
            message = f"may use more {field}: {listed(additional)}"
            yield Difference(Effect.WEAKER, f"{kind}-{field}-widened", place, subject, message)
        if excluded := additions(after, before, covers):
            message = f"may use fewer {field}: no longer {listed(excluded)}"
            yield Difference(Effect.CHANGED, f"{kind}-{field}-narrowed", place, subject, message)


def _team(caller: Caller) -> str:
    return f"team '{caller.team}'" if caller.team else "no team"


def _priority(caller: Caller) -> str:
    return f"{caller.priority} priority" if caller.priority else "the priority of the route"


def _expiry(
    old: Caller, new: Caller, place: Place, subject: tuple[str, ...]
) -> Iterator[Difference]:
    if old.expires == new.expires:
        return
    message = f"expires {_moment(new.expires)}, was {_moment(old.expires)}"
    longer = new.expires is None or (old.expires is not None and new.expires > old.expires)
    level, kind = (
        (Effect.WEAKER, "token-expiry-later") if longer else (Effect.CHANGED, "token-expiry-sooner")
    )
    yield Difference(level, kind, place, subject, message)


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return "never"
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes")


def limit_differences(
    old: Sequence[Quota],
    new: Sequence[Quota],
    place: Place,
    subject: tuple[str, ...],
    currency: str,
) -> Iterator[Difference]:
    """The limits of a token or a team that were raised, lowered, added or removed."""
    before = {limit.kind: limit for limit in old}
    after = {limit.kind: limit for limit in new}
    for kind in dict.fromkeys([*before, *after]):
        was, now = before.get(kind), after.get(kind)
        if now is None and was is not None:
            message = f"no longer has a limit of {kind}, was {quota_text(was, currency)}"
            yield Difference(Effect.WEAKER, "limit-removed", place, subject, message)
        elif was is None and now is not None:
            message = f"has a limit now: {quota_text(now, currency)}"
            yield Difference(Effect.CHANGED, "limit-added", place, subject, message)
        elif was is not None and now is not None and was.warn_at != now.warn_at:
            message = f"{warnings_text(now)} of {kind}, was {warnings_text(was)}"
            yield Difference(Effect.CHANGED, "limit-warnings", place, subject, message)
        if was is not None and now is not None and not is_same_bound(was, now):
            message = f"limit is {quota_text(now, currency)}, was {quota_text(was, currency)}"
            raised = compare_quotas(was, now) > 0
            level = Effect.WEAKER if raised else Effect.CHANGED
            code = "limit-raised" if raised else "limit-lowered"
            code = "limit-window" if is_moved(was, now) else code
            yield Difference(level, code, place, subject, message)


def _of_teams(old: Side, new: Side) -> Iterator[Difference]:
    """What the members of teams may do, and the limits that they share."""
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
        yield from allowed_differences(_TEAM_RIGHTS, "team", before[name], team, place, subject)
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
    message = f"is in {_team_text(now.parent)}, was in {_team_text(was.parent)}"
    old_line = old.config.teams.line(was.parent)
    effect = Effect.WEAKER if any(map(_restricts, old_line)) else Effect.CHANGED
    yield Difference(effect, "team-parent", place, subject, message)


def _team_text(team: str) -> str:
    return f"team '{team}'" if team else "no team"
