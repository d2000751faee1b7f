"""Client secrets: short-lived credentials for one kind of session, made from a token.

A secret is sealed with a key of the config, so that every worker and every machine with that key
opens it, without a database.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.values.trees import Json

PREFIX = "ek_"
"""How a client secret begins; the vendor's SDKs for browsers refuse others."""

MAX_SECRET = 6000
"""Characters of a secret at most: it travels in a header, of which proxies accept 8 KB."""


class ClientSecret(NamedTuple):
    """What a client secret says: the digest of the `token` that it was made from, when it `expires`
    (Unix seconds), and the `model` ("" for any) and `session` settings that it is for. No other
    secret has its `id`."""

    token: str
    expires: float
    model: str
    session: Json
    id: str = ""


class TooLarge(Exception):
    """A secret with these settings would have more than MAX_SECRET characters: so many."""
