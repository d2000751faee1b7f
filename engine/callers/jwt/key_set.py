"""The public keys of an issuer (RFC 7517), fetched, cached and renewed.

The law: a key is used for signatures only, only with an algorithm of its own type, and never as a
shared secret. A token names its key (`kid`); headers that bring a key or its address (`jwk`, `jku`,
`x5c`, `x5u`) are not read. Keys are fetched again when they are older than `MAX_AGE`, and for an
unknown `kid`, which anybody can make up, at most once in `MIN_INTERVAL`. While the issuer does not
answer, the last keys are used for `STALE_AGE`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gevent
import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from gevent.event import AsyncResult

from engine.callers.jwt.refusal import KeysUnavailable

log = logging.getLogger("modelway")

MAX_AGE = 3_600.0
MIN_INTERVAL = 30.0
STALE_AGE = 86_400.0
_FIRST_INTERVAL = 1.0
"""Seconds between two attempts as long as there are no keys."""
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
        self._load = load
        self._clock = clock
        self._keys: Sequence[Mapping[str, Any]] = ()
        self._compiled: dict[tuple[int, str], jwt.PyJWK | None] = {}
        self._loaded = self._tried = float("-inf")
        self._pending: AsyncResult[None] | None = None
        self._error = ""
        self.version = 0

    def find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The key for a signature; None if the issuer has none. Waits for keys that it may have.
        Raises KeysUnavailable."""
        self.renew()
        key = self._find(kid, algorithm)
        if key is None and self._may_try():
            self._refresh().get()
            key = self._find(kid, algorithm)
        return key

    def renew(self) -> None:
        """Fetch old keys again, in the background while the old ones may be used. Raises
        KeysUnavailable without keys that may be used."""
        if self._clock() - self._loaded <= MAX_AGE:
            return
        pending = self._refresh() if self._may_try() else None
        if not self._is_usable():
            if pending is not None:
                pending.get()
            if not self._is_usable():
                raise KeysUnavailable(self._error or "they are being fetched")

    def _is_usable(self) -> bool:
        return self._clock() - self._loaded <= MAX_AGE + STALE_AGE

    def _may_try(self) -> bool:
        interval = MIN_INTERVAL if self._is_usable() else _FIRST_INTERVAL
        return self._pending is not None or self._clock() - self._tried >= interval

    def _find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The only key that fits: a token without `kid` is not tried with one key after the
        other."""
        places = [
            at
            for at, key in enumerate(self._keys)
            if (kid is None or key.get("kid") == kid) and _fits(key, algorithm)
        ]
        return self._compile(places[0], algorithm) if len(places) == 1 else None

    def _compile(self, at: int, algorithm: str) -> jwt.PyJWK | None:
        known = (at, algorithm)
        if known not in self._compiled:
            self._compiled[known] = self._public_key(self._keys[at], algorithm)
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

    def _refresh(self) -> AsyncResult[None]:
        """Fetch the keys, once for all who wait."""
        if self._pending is None:
            self._pending = AsyncResult()
            self._tried = self._clock()
            gevent.spawn(self._run, self._pending)
        return self._pending

    def _run(self, pending: AsyncResult[None]) -> None:
        try:
            keys = list(self._load())[:MAX_KEYS]
        except KeysUnavailable as error:
            self._error = str(error)
            log.warning("the keys of %s cannot be fetched: %s", self._issuer, error)
        except Exception:
            self._error = "the keys cannot be read"
            log.exception("the keys of %s cannot be fetched", self._issuer)
        else:
            if keys != self._keys:
                self._keys, self._compiled = keys, {}
                self.version += 1
            self._loaded, self._error = self._clock(), ""
        finally:
            self._pending = None
            pending.set(None)


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
