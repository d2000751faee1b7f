"""A ring of keys that seals bytes as a text: AES-256-GCM (NIST SP 800-38D) with a random nonce.

In base64url without padding (RFC 4648 section 5): the version, 12 bytes of nonce, and the sealed
content. The version is authenticated with it. A key of the config is a text, from which HKDF
(RFC 5869) derives the key for one purpose: what is sealed for another does not open.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_VERSION = b"\x01"
_NONCE = 12


class SealRing:
    """The keys for one purpose: the first one seals, every one opens."""

    def __init__(self, keys: Sequence[str], purpose: str) -> None:
        self._keys = [AESGCM(_derived(key, purpose.encode())) for key in keys]

    def seal(self, content: bytes) -> str:
        """The content as a text of letters, digits, `-` and `_`."""
        nonce = os.urandom(_NONCE)
        return _encoded(_VERSION + nonce + self._keys[0].encrypt(nonce, content, _VERSION))

    def open(self, text: str) -> bytes | None:
        """What a key of the ring has sealed as this text; None for any other text."""
        sealed = _decoded(text)
        if sealed[:1] != _VERSION:
            return None
        nonce, content = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
        for key in self._keys:
            try:
                return key.decrypt(nonce, content, _VERSION)
            except (InvalidTag, ValueError):  # ValueError: a nonce that is too short
                continue
        return None


def _derived(key: str, purpose: bytes) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=purpose).derive(key.encode())


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
