"""Policies of routes: limits raised, lowered or removed, allow lists widened or narrowed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from engine import policies
from engine.config.routes import Policy
from engine.guardrails.settings import MODES, GuardSettings
from engine.offline.diff.deny_conditions import Direction, direction
from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.restrictions import (
    additions,
    compare_quotas,
    is_moved,
    listed,
    network_covers,
    quota_text,
    warnings_text,
)
from engine.policies import deny
from engine.source.problem import Place
from engine.values import units
from engine.values.quota import Quota
from engine.values.quota_sharers import Sharing
from engine.values.wildcard import matches

_COUNTS = {"upstream": 1, "model": 1, "route": 1, "team": 1, "token": 2}
"""How many counts a sharer makes: more let more pass. Those that a request says make the most."""
_MAX_COUNT = 3
_LISTS = {"allow_models": matches, "allow_operations": matches, "allow_ips": network_covers}


def differences(old: Side, new: Side) -> Iterator[Difference]:
    for name, route in new.routes.items():
        before = old.routes.get(name)
        if before is None:
            continue
        for was, now in _pairs(_limits(before.policies), _limits(route.policies)):
            if was is None or now is None or was.options != now.options:
                yield from _policy_differences(
                    name, was, now, _place(old, was, new, now), new.config.currency
                )


def _limits(listed: Sequence[Policy]) -> list[Policy]:
    """The policies but transforms, which `transforms` compares."""
    return [policy for policy in listed if not policies.transform_of(policy)]


def _place(old: Side, was: Policy | None, new: Side, now: Policy | None) -> Place:
    """The place of a policy, in the old file if it was removed."""
    if now is not None:
        return new.place(now.at, key=True)
    assert was is not None
    return old.place(was.at, key=True)


def _pairs(
    old: Sequence[Policy], new: Sequence[Policy]
) -> Iterator[tuple[Policy | None, Policy | None]]:
    """Pairs of corresponding policies: equal ones first, then by name, sharing and window."""
    unpaired = list(old)
    waiting = list(new)
    for alike in (_same, _same_window, _same_name):
        for now in list(waiting):
            was = next((policy for policy in unpaired if alike(policy, now)), None)
            if was is not None:
                unpaired.remove(was)
                waiting.remove(now)
                yield was, now
    yield from ((was, None) for was in unpaired)
    yield from ((None, now) for now in waiting)


def _same(old: Policy, new: Policy) -> bool:
    return (old.name, old.options) == (new.name, new.options)


def _same_window(old: Policy, new: Policy) -> bool:
    if old.name != new.name or not isinstance(old.options, dict):
        return False
    keys = ("by", "per")
    return [old.options.get(key) for key in keys] == [new.options.get(key) for key in keys]


def _same_name(old: Policy, new: Policy) -> bool:
    return old.name == new.name


def _policy_differences(
    name: str, was: Policy | None, now: Policy | None, place: Place, currency: str
) -> Iterator[Difference]:
    if was is None:
        assert now is not None
        message = f"{now.name} is added: {_options_text(now, currency)}"
        yield Difference(Effect.ADDED, "policy-added", place, (name,), message)
    elif now is None:
        message = f"{was.name} is removed, was {_options_text(was, currency)}"
        yield Difference(Effect.WEAKER, "policy-removed", place, (name,), message)
    elif was.options != now.options:
        for level, kind, message in _changes(was, now, currency):
            yield Difference(level, kind, place, (name,), message)


def _changes(was: Policy, now: Policy, currency: str) -> Iterator[tuple[Effect, str, str]]:
    message = f"{now.name} is {_options_text(now, currency)}, was {_options_text(was, currency)}"
    before, after = policies.quota_of(was, currency), policies.quota_of(now, currency)
    if before is not None and after is not None:
        yield from _quota_changes(was, now, before, after, message)
    elif now.name == "max_body":
        raised = units.size(now.options) > units.size(was.options)
        yield _direction(raised, "limit-raised", "limit-lowered", message)
    elif now.name in _LISTS:
        covers = _LISTS[now.name]
        if additional := additions(was.options, now.options, covers):
            yield Effect.WEAKER, "allowed-widened", f"{now.name} also allows {listed(additional)}"
        if excluded := additions(now.options, was.options, covers):
            message = f"{now.name} no longer allows {listed(excluded)}"
            yield Effect.CHANGED, "allowed-narrowed", message
    elif now.name == "deny" and _conditions(was) != _conditions(now):
        match direction(deny.read(was.options), deny.read(now.options)):
            case Direction.MORE:
                yield Effect.CHANGED, "policy-changed", f"it refuses more: {message}"
            case Direction.LESS:
                yield Effect.WEAKER, "policy-changed", f"it refuses less: {message}"
            case Direction.OTHER:
                message = f"it may allow requests that it refused: {message}"
                yield Effect.WEAKER, "policy-changed", message
    elif now.name == "guard":
        less = _guards_less(GuardSettings.read(was.options), GuardSettings.read(now.options))
        effect = Effect.WEAKER if less else Effect.CHANGED
        yield effect, "policy-changed", message
    elif now.name in policies.KINDS.installed:  # nothing is known of what its options mean
        yield Effect.WEAKER, "policy-changed", f"it may protect less: {message}"
    else:
        yield Effect.CHANGED, "policy-changed", message


def _quota_changes(
    was: Policy, now: Policy, before: Quota, after: Quota, message: str
) -> Iterator[tuple[Effect, str, str]]:
    more = _more_counts(policies.sharing_of(was), policies.sharing_of(now))
    if before.warn_at != after.warn_at:
        text = f"{now.name} {warnings_text(after)}, was: {warnings_text(before)}"
        yield Effect.CHANGED, "limit-warnings", text
        if _without_warnings(was) == _without_warnings(now):
            return
    if not more and is_moved(before, after):
        yield Effect.CHANGED, "limit-window", message
        return
    raised = compare_quotas(before, after) > 0 or more > 0
    yield _direction(raised, "limit-raised", "limit-lowered", message)


def _guards_less(was: GuardSettings, now: GuardSettings) -> bool:
    """Whether texts pass that a guard has judged, or that it has kept back."""
    return (
        not was.stages <= now.stages
        or MODES.index(now.mode) > MODES.index(was.mode)
        or now.passes_unjudged > was.passes_unjudged
        or now.overlap < was.overlap
    )


def _more_counts(was: Sharing, now: Sharing) -> int:
    """Above 0 if a limit is counted more often than before, so that more may pass; what cannot be
    compared may be."""
    before, after = set(map(str, was.sharers)), set(map(str, now.sharers))
    if before == after:
        return int(_believes_more(was, now) or (was.refuses_missing and not now.refuses_missing))
    if before < after or after < before:
        return 1 if before < after else -1
    if len(before) == len(after) == 1:
        old, new = (_COUNTS.get(each.sharers[0].kind, _MAX_COUNT) for each in (was, now))
        return new - old if max(old, new) < _MAX_COUNT or old != new else 1
    return 1


def _believes_more(was: Sharing, now: Sharing) -> bool:
    """Whether more callers are believed, who can choose what they are counted by."""
    before = {str(sharer): sharer.trusted for sharer in was.sharers}
    return any(additions(before[str(s)], s.trusted) for s in now.sharers)


def _without_warnings(policy: Policy) -> dict[str, object]:
    return {key: value for key, value in policy.options.items() if key != "warn_at"}


def _conditions(policy: Policy) -> tuple[object, object]:
    """The conditions of a `deny`, without its message and status."""
    return policy.options.get("if"), policy.options.get("unless")


def _sharing_text(sharing: Sharing) -> str:
    trusted = [name for sharer in sharing.sharers for name in sharer.trusted or ()]
    believed = f" of {listed(trusted)}" if trusted else ""
    return f"{sharing}{believed}{', else refused' if sharing.refuses_missing else ''}"


def _direction(raised: bool, up: str, down: str, message: str) -> tuple[Effect, str, str]:
    return (Effect.WEAKER, up, message) if raised else (Effect.CHANGED, down, message)


def _options_text(policy: Policy, currency: str) -> str:
    if policy.name == "guard":
        return GuardSettings.read(policy.options).text
    quota = policies.quota_of(policy, currency)
    if quota is not None:
        return f"{quota_text(quota, currency)} by {_sharing_text(policies.sharing_of(policy))}"
    return json.dumps(policy.options) if isinstance(policy.options, dict) else str(policy.options)
