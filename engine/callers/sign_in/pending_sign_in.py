"""A pending sign-in: what the browser keeps, sealed, until the provider sends it back.

`state` binds the response to this browser (RFC 6749 10.12), `nonce` the ID token to this sign-in
(OpenID Connect Core 1.0, 15.5.2), and `verifier` the code to it (PKCE, RFC 7636).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Sequence
from typing import NamedTuple

import orjson

from engine.exchange.seal_ring import SealRing

MAX_SECONDS = 600.0
"""How long a person may take at the provider."""

_BYTES = 32


class PendingSignIn(NamedTuple):
    """A sign-in, `page` is the path to go to at its end; it `expires` in Unix seconds."""

    state: str
    nonce: str
    verifier: str
    page: str
    expires: float

    @property
    def challenge(self) -> str:
        """The code challenge of the method S256 (RFC 7636 4.2)."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def new_pending_sign_in(page: str, now: float) -> PendingSignIn:
    """A sign-in that begins now."""
    state, nonce, verifier = (secrets.token_urlsafe(_BYTES) for _ in range(3))
    return PendingSignIn(state, nonce, verifier, page, now + MAX_SECONDS)


class PendingSignIns:
    """Seals and opens sign-ins at one issuer, as one client."""

    def __init__(self, keys: Sequence[str], issuer: str, client_id: str) -> None:
        self._ring = SealRing(keys, f"modelway sign-in\n{issuer}\n{client_id}")

    def seal(self, pending: PendingSignIn) -> str:
        return self._ring.seal(orjson.dumps([*pending]))

    def open(self, text: str, now: float) -> PendingSignIn | None:
        """The sign-in of a text; None for one that has expired, and for any other text."""
        content = self._ring.open(text)
        if content is None:
            return None
        pending = PendingSignIn(*orjson.loads(content))
        return pending if now < pending.expires else None
