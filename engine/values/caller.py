"""Callers and their tokens. A token's secret is shown once; only its SHA-256 is stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter

from msgspec import Struct, field
from msgspec.structs import force_setattr

from engine.values.quota import Quota
from engine.values.wildcard import Patterns, shared_patterns

PREFIX = "mw-"

_CACHED_PERMISSIONS = 1_000

AllowLists = tuple[tuple[str, ...], ...]
"""Lists of names and wildcards. What is allowed matches each of them; without a list, all is."""


def new_secret() -> str:
    """A fresh secret: `mw-` and 256 random bits in hexadecimal."""
    return PREFIX + secrets.token_hex(32)


def digest(secret: str) -> str:
    """The SHA-256 of a secret, in lower-case hexadecimal: what is stored and compared."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


class Team(Struct, frozen=True, eq=False):
    """A team of the config: what its members may do, those of the teams below it included, and the
    `limits` that they share. `models` and `operations` are as those of a caller. `parent` is the
    name of the team in which it is, "" for none. `regions` are as those of a caller.

    A config makes each team once: it is equal to itself only, which is quick to compare.
    """

    name: str
    models: tuple[str, ...] | None = None
    operations: tuple[str, ...] | None = None
    limits: tuple[Quota, ...] = ()
    parent: str = ""
    regions: tuple[str, ...] | None = None


class Permissions(Struct, frozen=True, eq=False):
    """What a caller may do, its teams considered. Callers with equal rights share it."""

    region_lists: AllowLists
    model_lists: AllowLists
    operation_lists: AllowLists
    has_team_limits: bool
    model_patterns: tuple[Patterns, ...]
    operation_patterns: tuple[Patterns, ...]


_NO_PERMISSIONS = Permissions((), (), (), False, (), ())


class Caller(Struct, frozen=True, eq=False):
    """The caller of a token, and what the token permits.

    `team` is "" for none, and so is `priority`. `teams` are the team of this name and those above
    it, the lowest first, as far as the config declares them: the caller may do what all of them and
    the token permit.

    `regions` are those that an upstream must be in, names or wildcards, None for any.

    `claims` are those of a JSON Web Token by which limits count, by their place; callers are equal
    whatever theirs are. `permissions` follow from the others.

    `models` are names or wildcards (`gpt-4o*`); None allows every model, an empty tuple none.
    `operations` are wildcards over `spec.operationId`, `ips` addresses or networks, None allows
    all. `expires` is in Unix seconds; None means never. `limits` apply beside those of policies.
    """

    name: str
    models: tuple[str, ...] | None = None
    expires: float | None = None
    operations: tuple[str, ...] | None = None
    ips: tuple[str, ...] | None = None
    limits: tuple[Quota, ...] = ()
    team: str = ""
    priority: str = ""
    teams: tuple[Team, ...] = ()
    claims: Mapping[str, str] = {}
    regions: tuple[str, ...] | None = field(default=None, name="require.region")
    permissions: Permissions = _NO_PERMISSIONS

    def __post_init__(self) -> None:
        permissions = _permissions(self.models, self.operations, self.regions, self.teams)
        force_setattr(self, "permissions", permissions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Caller) and _compared(self) == _compared(other)

    def __ne__(self, other: object) -> bool:
        return not self == other  # that of a struct compares identities

    def __hash__(self) -> int:
        return hash(_compared(self))

    def __reduce__(self) -> tuple[type[Caller], tuple[object, ...]]:
        """Another process makes it anew, so that its patterns are shared there as well."""
        return Caller, (*_compared(self)[:-1], self.claims, self.regions)

    @property
    def is_limited(self) -> bool:
        """Whether the token or one of its teams has limits."""
        return bool(self.limits) or self.permissions.has_team_limits

    @property
    def region_lists(self) -> AllowLists:
        """The lists of regions, of the token and its teams."""
        return self.permissions.region_lists

    @property
    def model_lists(self) -> AllowLists:
        """The lists of models."""
        return self.permissions.model_lists

    @property
    def operation_lists(self) -> AllowLists:
        """The lists of operations."""
        return self.permissions.operation_lists

    def may_use(self, model: str) -> bool:
        """Whether the caller may ask for this model."""
        patterns = self.permissions.model_patterns
        return not patterns or all(each.match(model) for each in patterns)

    def may_call(self, operation: str) -> bool:
        """Whether the caller may call this operation, known as `spec.operationId`."""
        patterns = self.permissions.operation_patterns
        return not patterns or all(each.match(operation) for each in patterns)


_compared = attrgetter(
    *(name for name in Caller.__struct_fields__ if name not in ("claims", "permissions"))
)


@lru_cache(_CACHED_PERMISSIONS)
def _permissions(
    models: tuple[str, ...] | None,
    operations: tuple[str, ...] | None,
    regions: tuple[str, ...] | None,
    teams: tuple[Team, ...],
) -> Permissions:
    """Made once for equal rights: each new JSON Web Token makes a caller."""
    holders = [Team("", models, operations, (), "", regions), *teams]
    model_lists = tuple(each.models for each in holders if each.models is not None)
    operation_lists = tuple(each.operations for each in holders if each.operations is not None)
    return Permissions(
        tuple(each.regions for each in holders if each.regions is not None),
        model_lists,
        operation_lists,
        any(team.limits for team in teams),
        tuple(map(shared_patterns, model_lists)),
        tuple(map(shared_patterns, operation_lists)),
    )
