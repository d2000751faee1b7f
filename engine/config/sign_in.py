"""`console.sign_in` of gateway.yaml: how people sign in to the pages.

What is wrong with it is noted by `engine/plan/checks/sign_in.py`, which also knows the routes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.config import keys
from engine.config.keys import default
from engine.values.trees import Section

_DEFAULTS = "console.sign_in"


@dataclass(frozen=True, slots=True)
class SignInConfig:
    """An OpenID provider and this gateway as its client.

    `issuer` is one of `callers.jwt`, whose entries say who a person is here. `client_secret` is ""
    for a public client. `session` is in seconds. `keys` seal the cookies: the first one seals, all
    of them open.
    """

    issuer: str
    client_id: str
    keys: tuple[str, ...] = field(repr=False)
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = field(default_factory=lambda: tuple(default(f"{_DEFAULTS}.scopes")))
    session: float = default(f"{_DEFAULTS}.session")


def read_sign_in(section: Section) -> SignInConfig:
    """`console.sign_in`. An empty key, of a variable that is not set, is none."""
    values: dict[str, Any] = keys.fill(section, _DEFAULTS)
    values["keys"] = tuple(key for key in values["keys"] if key)
    values["scopes"] = tuple(dict.fromkeys(values["scopes"]))
    return SignInConfig(**values)
