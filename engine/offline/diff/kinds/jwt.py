"""Issuers whose JSON Web Tokens are accepted, and what their bearers may do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

from msgspec import structs

from engine.config.callers import JwtIssuer
from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.restrictions import listed
from engine.values.caller import Caller

_PROOF = ("discovery", "jwks", "jwks_file", "algorithms", "require")
"""The fields that say which tokens are genuine: a change may let others in."""
_RIGHTS = ("claims", "rights")

_Issuers = dict[tuple[object, ...], JwtIssuer]


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = _by_identity(old), _by_identity(new)
    for identity, issuer in before.items():
        if identity not in after:
            message = f"{_name(issuer)} is no longer accepted"
            yield _difference(old, issuer, Effect.BREAKING, "jwt-issuer-removed", message)
    for identity, issuer in after.items():
        if identity not in before:
            message = f"tokens of {_name(issuer)} are accepted"
            yield _difference(new, issuer, Effect.WEAKER, "jwt-issuer-added", message)
            continue
        for level, kind, message in _changes(before[identity], issuer, old, new):
            yield _difference(new, issuer, level, kind, message)
    common = [identity for identity in before if identity in after]
    if common != [identity for identity in after if identity in before]:
        message = "the first entry that fits a token is another one for some tokens"
        place = new.place(("callers", "jwt"))
        yield Difference(Effect.WEAKER, "jwt-order", place, ("callers",), message)


def _changes(
    was: JwtIssuer, now: JwtIssuer, old: Side, new: Side
) -> Iterator[tuple[Effect, str, str]]:
    for field in _PROOF:
        before, after = _relative(was, field, old), _relative(now, field, new)
        if before != after:
            yield Effect.WEAKER, "jwt-proof", f"has other {field}: check which tokens it lets in"
    if was.leeway != now.leeway:
        level = Effect.WEAKER if now.leeway > was.leeway else Effect.CHANGED
        yield level, "jwt-leeway", f"leeway is {now.leeway:g} s, was {was.leeway:g} s"
    if was.warn_at != now.warn_at:
        yield Effect.CHANGED, "limit-warnings", "warnings of its callers' limits are other ones"
    if any(_unwarned(was, field) != _unwarned(now, field) for field in _RIGHTS):
        yield Effect.WEAKER, "jwt-rights", "bearers have other names or rights: check what they may"
    before, after = (each.revoked | each.revoked_subjects for each in (was, now))
    if additions := before - after:
        yield Effect.WEAKER, "jwt-revoked", f"no longer refuses {listed(sorted(additions))}"
    if refused := after - before:
        yield Effect.BREAKING, "jwt-revoked", f"refuses {listed(sorted(refused))}"


def _unwarned(issuer: JwtIssuer, field: str) -> object:
    """A field, without the warnings of limits."""
    value = getattr(issuer, field)
    if not isinstance(value, Caller):
        return value
    limits = tuple(structs.replace(limit, warn_at=()) for limit in value.limits)
    return structs.replace(value, limits=limits)


def _by_identity(side: Side) -> _Issuers:
    """The issuers by issuer, audience, and their number among those of both."""
    issuers: _Issuers = {}
    for issuer in side.config.jwt:
        number = 0
        while (identity := (issuer.issuer, frozenset(issuer.audience), number)) in issuers:
            number += 1
        issuers[identity] = issuer
    return issuers


def _relative(issuer: JwtIssuer, field: str, side: Side) -> object:
    """The value of a field, a path from the folder of the config."""
    value = getattr(issuer, field)
    if isinstance(value, FilePath):
        folder = side.config.folder
        return value.relative_to(folder) if value.is_relative_to(folder) else value
    return value


def _name(issuer: JwtIssuer) -> str:
    return f"issuer '{issuer.issuer}' for {listed(list(issuer.audience))}"


def _difference(
    side: Side, issuer: JwtIssuer, level: Effect, kind: str, message: str
) -> Difference:
    return Difference(level, kind, side.place(issuer.at), (f"issuer {issuer.issuer}",), message)
