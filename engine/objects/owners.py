"""Whose an object is: the token's or the team's that made it, or everybody's."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from engine.values.caller import Caller

EVERYBODY = b"\0" * 8
"""The owner of the objects of a config with `owner: all`."""


def owner_of(caller: Caller | None, owner: str) -> bytes:
    """The 8 bytes that stand for the owner of a caller's objects; `owner` is that of the config. A
    token without a team owns its objects alone, and so does whoever sends none."""
    if owner == "all":
        return EVERYBODY
    name = "" if caller is None else caller.name
    team = caller.team if caller is not None and owner == "team" else ""
    return _digest("team", team) if team else _digest("token" if caller else "nobody", name)


@lru_cache(maxsize=4_096)
def _digest(kind: str, name: str) -> bytes:
    return hashlib.blake2b(f"{kind}\0{name}".encode(), digest_size=8).digest()


NOBODY = owner_of(None, "token")
"""The owner of what requests without a token make."""
