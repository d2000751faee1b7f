"""A kind of credential: each file of `credentials/` defines `CREDENTIAL`, a value of this type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.credentials.interface.context import Context
from engine.credentials.interface.credential import Credential


@dataclass(frozen=True, kw_only=True, eq=False)
class CredentialKind:
    """A kind of credential, whose name is that of its key in gateway.yaml.

    `form` is the form in gateway.yaml, for hints: `{bearer: ...}`. `schema` is the JSON Schema of
    the value under that key, `more_keys` are the schemas of other keys, all of them required.
    `read` makes the credential of a section that matches them; problems go to the context.
    """

    form: str
    schema: dict[str, Any]
    read: Callable[[Mapping[str, Any], Context], Credential]
    more_keys: Mapping[str, Any] = field(default_factory=dict)
