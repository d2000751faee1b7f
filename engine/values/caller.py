"""Callers and their tokens. A token's secret is shown once; only its SHA-256 is stored."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field, fields

from engine.values.quota import Quota
from engine.values.wildcard import Patterns, shared_patterns

PREFIX = "mw-"


def new_secret() -> str:
    """A fresh secret: `mw-` and 256 random bits in hexadecimal."""
    return PREFIX + secrets.token_hex(32)


def digest(secret: str) -> str:
    """The SHA-256 of a secret, in lower-case hexadecimal: what is stored and compared."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a token, and what the token permits.

    `team` is "" for none, and so is `priority`.

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
    _models: Patterns = field(init=False, repr=False, compare=False)
    _operations: Patterns = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_models", shared_patterns(tuple(self.models or ())))
        object.__setattr__(self, "_operations", shared_patterns(tuple(self.operations or ())))

    def __reduce__(self) -> tuple[type[Caller], tuple[object, ...]]:
        """Another process makes it anew, so that its patterns are shared there as well."""
        return Caller, tuple(getattr(self, part.name) for part in fields(self) if part.init)

    def may_use(self, model: str) -> bool:
        """Whether the caller may ask for this model."""
        return self.models is None or self._models.match(model)

    def may_call(self, operation: str) -> bool:
        """Whether the caller may call this operation, known as `spec.operationId`."""
        return self.operations is None or self._operations.match(operation)
