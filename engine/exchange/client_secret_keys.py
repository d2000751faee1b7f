"""Sealing and opening of client secrets: AES-256-GCM (NIST SP 800-38D) with a random nonce.

`ek_`, then in base64url without padding (RFC 4648 section 5): the version, 12 bytes of nonce, and
the sealed content: the token's digest, the expiry, and the rest as compressed JSON. The version is
authenticated with it. A key of the config is a text, from which HKDF (RFC 5869) derives the key.
"""

from __future__ import annotations

import base64
import binascii
import os
import struct
import zlib
from collections.abc import Sequence

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from engine.exchange.client_secret import MAX_SECRET, PREFIX, ClientSecret, TooLarge

_VERSION = b"\x01"
_NONCE = 12
_PURPOSE = b"modelway client secret"
_HEAD = struct.Struct(">32sd")  # the digest of the token, the expiry


class ClientSecretKeys:
    """A ring of keys: the first one seals, every one opens. Counts for the metric: how many secrets
    were `issued`, `accepted` at a session, and refused because they had `expired` or were
    `invalid`."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [AESGCM(_derived(key)) for key in keys]
        self.issued = self.accepted = self.expired = self.invalid = 0

    def seal(self, secret: ClientSecret) -> str:
        """The secret as a text. Raises TooLarge."""
        details = zlib.compress(orjson.dumps([secret.model, secret.session]), 9)
        content = _HEAD.pack(bytes.fromhex(secret.token), secret.expires) + details
        nonce = os.urandom(_NONCE)
        sealed = _VERSION + nonce + self._keys[0].encrypt(nonce, content, _VERSION)
        text = PREFIX + _encoded(sealed)
        if len(text) > MAX_SECRET:
            raise TooLarge(len(text))
        return text

    def open(self, text: str) -> ClientSecret | None:
        """What a text says that one of the keys has sealed, also if it has expired; None for any
        other text."""
        if not text.startswith(PREFIX) or len(text) > MAX_SECRET:
            return None
        sealed = _decoded(text[len(PREFIX) :])
        if sealed[:1] != _VERSION:
            return None
        nonce, content = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
        for key in self._keys:
            try:
                return _secret(key.decrypt(nonce, content, _VERSION), nonce.hex())
            except (InvalidTag, ValueError):  # ValueError: a nonce that is too short
                continue
        return None


def _secret(content: bytes, name: str) -> ClientSecret:
    token, expires = _HEAD.unpack_from(content)
    model, session = orjson.loads(zlib.decompress(content[_HEAD.size :]))
    return ClientSecret(token.hex(), expires, model, session, name)


def _derived(key: str) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(key.encode())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    """The bytes of a text, b"" unless it is exactly what `_encoded` makes of them: a secret has one
    spelling."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""
    return data if _encoded(data) == text else b""
