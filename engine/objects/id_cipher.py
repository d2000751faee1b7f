"""AES-SIV (RFC 5297), deterministic authenticated encryption. Apart from its users, because the
library takes 6 MB of memory: they import it when a config has a key."""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV


class IdCipher:
    """Encrypts and decrypts with one key of 64 bytes."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESSIV(key)

    def encrypt(self, data: bytes, associated: Sequence[bytes]) -> bytes:
        """The data, encrypted and authenticated together with the associated data."""
        return self._cipher.encrypt(data, list(associated))

    def decrypt(self, data: bytes, associated: Sequence[bytes]) -> bytes | None:
        """What was encrypted with this key and the same associated data; None for anything else."""
        try:
            return self._cipher.decrypt(data, list(associated))
        except (InvalidTag, ValueError):
            return None
