"""Callers and their tokens. A token's secret is shown once; only its SHA-256 is stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from msgspec import Struct

from engine.values.quota import Quota
from engine.values.wildcard import Patterns, shared_patterns

PREFIX = "mw-"

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


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a token, and what the token permits.

    `team` is "" for none, and so is `priority`. `teams` are the team of this name and those above
    it, the lowest first, as far as the config declares them: the caller may do what all of them and
    the token permit.

    `regions` are those that an upstream must be in, names or wildcards, None for any.

    `claims` are those of a JSON Web Token by which limits count, by their place.

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
    claims: Mapping[str, str] = field(default_factory=dict, compare=False)
    regions: tuple[str, ...] | None = field(default=None, metadata={"key": "require.region"})
    region_lists: AllowLists = field(init=False, repr=False, compare=False)
    model_lists: AllowLists = field(init=False, repr=False, compare=False)
    operation_lists: AllowLists = field(init=False, repr=False, compare=False)
    is_limited: bool = field(init=False, repr=False, compare=False)
    _models: Patterns = field(init=False, repr=False, compare=False)
    _operations: Patterns = field(init=False, repr=False, compare=False)
    _team_models: tuple[Patterns, ...] = field(init=False, repr=False, compare=False)
    _team_operations: tuple[Patterns, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        models: list[tuple[str, ...]] = []
        operations: list[tuple[str, ...]] = []
        regions: list[tuple[str, ...]] = []
        is_limited = False
        holders: tuple[Caller | Team, ...] = (self, *self.teams)
        for holder in holders:
            if holder.models is not None:
                models.append(tuple(holder.models))
            if holder.operations is not None:
                operations.append(tuple(holder.operations))
            if holder.regions is not None:
                regions.append(tuple(holder.regions))
            is_limited = is_limited or bool(holder.limits)
        object.__setattr__(self, "region_lists", tuple(regions))
        object.__setattr__(self, "is_limited", is_limited)
        object.__setattr__(self, "model_lists", tuple(models))
        object.__setattr__(self, "operation_lists", tuple(operations))
        object.__setattr__(self, "_models", shared_patterns(tuple(self.models or ())))
        object.__setattr__(self, "_operations", shared_patterns(tuple(self.operations or ())))
        of_teams = models[self.models is not None :], operations[self.operations is not None :]
        object.__setattr__(self, "_team_models", tuple(map(shared_patterns, of_teams[0])))
        object.__setattr__(self, "_team_operations", tuple(map(shared_patterns, of_teams[1])))

    def __reduce__(self) -> tuple[type[Caller], tuple[object, ...]]:
        """Another process makes it anew, so that its patterns are shared there as well."""
        return Caller, tuple(getattr(self, part.name) for part in fields(self) if part.init)

    def may_use(self, model: str) -> bool:
        """Whether the caller may ask for this model."""
        if self.models is not None and not self._models.match(model):
            return False
        return not self._team_models or all(each.match(model) for each in self._team_models)

    def may_call(self, operation: str) -> bool:
        """Whether the caller may call this operation, known as `spec.operationId`."""
        if self.operations is not None and not self._operations.match(operation):
            return False
        lists = self._team_operations
        return not lists or all(each.match(operation) for each in lists)
