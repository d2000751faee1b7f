"""`client_secrets:` of gateway.yaml: the keys that seal the secrets of realtime sessions."""

from __future__ import annotations

from msgspec import Struct

from engine.source.problem import Findings, Source
from engine.values.trees import Section

_MIN_LENGTH = 32
_MIN_CHARACTERS = 10
_HINT = "`openssl rand -hex 32` makes one; write it into a variable, not into the file"


class ClientSecrets(Struct, frozen=True):
    """The ring of keys: the first one seals, all of them open. Without any, no secrets are issued
    and none is accepted."""

    keys: tuple[str, ...] = ()


def read_client_secrets(section: Section, source: Source, findings: Findings) -> ClientSecrets:
    """`client_secrets:`; keys that can be guessed go to the findings. An empty one, of a variable
    that is not set, is none."""
    keys: list[str] = []
    for index, key in enumerate(section.get("keys", ())):
        if not key:
            continue
        at = ("client_secrets", "keys", index)
        if len(key) < _MIN_LENGTH or len(set(key)) < _MIN_CHARACTERS:
            message = f"a key has at least {_MIN_LENGTH} characters, chosen at random"
            findings.error(source, at, "MW104", message, _HINT)
        elif key in keys:
            message = "this key is in the list twice"
            findings.error(source, at, "MW104", message, "remove it; the first key seals")
        else:
            keys.append(key)
    return ClientSecrets(tuple(keys))
