"""The public keys of an issuer (RFC 7517), fetched, cached and renewed.

The law: a key is used for signatures only, only with an algorithm of its own type, and never as a
shared secret. A token names its key (`kid`); headers that bring a key or its address (`jwk`, `jku`,
`x5c`, `x5u`) are not read. Keys are fetched again when they are old (`cached_load.py`), and for an
unknown `kid`, which anybody can make up, at most once in `MIN_INTERVAL`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from engine.callers.jwt.cached_load import CachedLoad

log = logging.getLogger("modelway")

MAX_KEYS = 100
MIN_RSA_BITS = 2048

Load = Callable[[], Sequence[Mapping[str, Any]]]
"""Returns the keys of an issuer, as in `keys` of a key set. Raises KeysUnavailable."""

_TYPES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}


class KeySet:
    """The keys of one issuer. `version` changes with them."""

    def __init__(
        self, issuer: str, load: Load, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._keys = CachedLoad(f"the keys of {issuer}", lambda: [*load()][:MAX_KEYS], clock)
        self._compiled: dict[tuple[int, str], jwt.PyJWK | None] = {}
        self._keys_by_name: dict[tuple[str | None, str], jwt.PyJWK] = {}
        self._keys_version = 0

    @property
    def version(self) -> int:
        return self._keys.version

    def find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The key for a signature; None if the issuer has none. Waits for keys that it may have.
        Raises KeysUnavailable."""
        self.renew()
        key = self._find(kid, algorithm)
        if key is None and self._keys.reload():
            key = self._find(kid, algorithm)
        return key

    def renew(self) -> None:
        """Fetch old keys again, in the background while the old ones may be used. Raises
        KeysUnavailable without keys that may be used."""
        self._keys.renew()

    def _find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The only key that fits and can be used: a token without `kid` is not tried with one key
        after the other."""
        if self._keys_version != self.version:
            self._keys_version, self._keys_by_name, self._compiled = self.version, {}, {}
        match = self._keys_by_name.get((kid, algorithm))
        if match is not None:
            return match
        usable = [
            compiled
            for at, key in enumerate(self._keys.value or ())
            if (kid is None or key.get("kid") == kid) and _fits(key, algorithm)
            if (compiled := self._compile(at, key, algorithm)) is not None
        ]
        if len(usable) != 1:
            return None
        self._keys_by_name[kid, algorithm] = usable[0]
        return usable[0]

    def _compile(self, at: int, key: Mapping[str, Any], algorithm: str) -> jwt.PyJWK | None:
        known = (at, algorithm)
        if known not in self._compiled:
            self._compiled[known] = self._public_key(key, algorithm)
        return self._compiled[known]

    def _public_key(self, key: Mapping[str, Any], algorithm: str) -> jwt.PyJWK | None:
        public = {name: value for name, value in key.items() if name != "d"}
        try:
            compiled = jwt.PyJWK(public, algorithm)
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            log.warning("a key of %s cannot be used: %s", self._issuer, error)
            return None
        if isinstance(compiled.key, RSAPublicKey) and compiled.key.key_size < MIN_RSA_BITS:
            bits = compiled.key.key_size
            log.warning("a key of %s cannot be used: it has %d bits", self._issuer, bits)
            return None
        return compiled


def _fits(key: Mapping[str, Any], algorithm: str) -> bool:
    """Whether a key is meant for signatures of this algorithm (RFC 7517 4, RFC 7518 6)."""
    operations = key.get("key_ops")
    return (
        key.get("kty") == _TYPES[algorithm[:2]]
        and key.get("alg", algorithm) == algorithm
        and key.get("use", "sig") == "sig"
        and (operations is None or (isinstance(operations, list) and "verify" in operations))
        and key.get("crv") == _CURVES.get(algorithm, key.get("crv"))
    )
