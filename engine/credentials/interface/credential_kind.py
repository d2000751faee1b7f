"""A kind of credential: each file of `credentials/` defines `CREDENTIAL`, a value of this type."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from engine.credentials.interface.context import Context
from engine.credentials.interface.credential import Credential
from engine.values.trees import Json, Section


class CredentialKind(Struct, frozen=True, kw_only=True, eq=False):
    """A kind of credential, whose name is that of its key in gateway.yaml.

    `form` is the form in gateway.yaml, for hints: `{bearer: ...}`. `schema` is the JSON Schema of
    the value under that key, `more_keys` are the schemas of other keys, all of them required.
    `read` makes the credential of a section that matches them; problems go to the context. With
    `reads_body` it may need the whole body of a request, so that bodies are received before.
    """

    form: str
    schema: Json
    read: Callable[[Section, Context], Credential]
    more_keys: Section = field(default_factory=dict)
    reads_body: bool = True
