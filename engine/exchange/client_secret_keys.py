"""Sealing and opening of client secrets: `ek_` and what a ring of keys seals (`seal_ring.py`), the
token's digest, the expiry, and the rest as compressed JSON.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence

import orjson

from engine.exchange.client_secret import MAX_SECRET, PREFIX, ClientSecret, TooLarge
from engine.exchange.seal_ring import SealRing

_HEAD = struct.Struct(">32sd")  # the digest of the token, the expiry


class ClientSecretKeys:
    """A ring of keys: the first one seals, every one opens. Counts for the metric: how many secrets
    were `issued`, `accepted` at a session, and refused because they had `expired` or were
    `invalid`."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._ring = SealRing(keys, "modelway client secret")
        self.issued = self.accepted = self.expired = self.invalid = 0

    def seal(self, secret: ClientSecret) -> str:
        """The secret as a text. Raises TooLarge."""
        details = zlib.compress(orjson.dumps([secret.model, secret.session]), 9)
        content = _HEAD.pack(bytes.fromhex(secret.token), secret.expires) + details
        text = PREFIX + self._ring.seal(content)
        if len(text) > MAX_SECRET:
            raise TooLarge(len(text))
        return text

    def open(self, text: str) -> ClientSecret | None:
        """What a text says that one of the keys has sealed, also if it has expired; None for any
        other text."""
        if not text.startswith(PREFIX) or len(text) > MAX_SECRET:
            return None
        content = self._ring.open(text[len(PREFIX) :])
        return None if content is None else _secret(content, text)


def _secret(content: bytes, text: str) -> ClientSecret:
    token, expires = _HEAD.unpack_from(content)
    model, session = orjson.loads(zlib.decompress(content[_HEAD.size :]))
    name = hashlib.blake2b(text.encode(), digest_size=12).hexdigest()  # a secret has one spelling
    return ClientSecret(token.hex(), expires, model, session, name)
