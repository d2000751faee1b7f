"""Tokens that reloads have removed from the config, published by a master for the workers of
earlier configs, whose streams may still be open."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import orjson

from engine.callers.revocation import REMOVED
from engine.values.caller import Caller

log = logging.getLogger("modelway")


class RemovedTokens:
    """The file `gateway-PID.tokens` in a runtime directory: the end of each token that some earlier
    config of this master had, and the served one does not have or lets expire earlier. Other
    issuers, and their tokens, have an end of 0 there."""

    def __init__(
        self, folder: Path, tokens: Mapping[str, Caller], issuers: Iterable[str] = ()
    ) -> None:
        self._file = folder / f"gateway-{os.getpid()}.tokens"
        self._expirations = _expirations(tokens)
        self._issuers = set(issuers)
        self._read: tuple[object, Mapping[str, float]] = (None, {})
        self._published = False

    def publish(
        self,
        tokens: Mapping[str, Caller],
        revoked: Iterable[str] = (),
        issuers: Collection[str] = (),
    ) -> None:
        """Compare the tokens and the other issuers of a new config with all earlier ones, in the
        master; `revoked` are the identities of other issuers' tokens. A file that cannot be written
        is logged: streams of removed tokens then end with their worker."""
        current = _expirations(tokens)
        earlier = self._expirations
        ended = {digest: REMOVED for digest in earlier if digest not in current}
        ended |= dict.fromkeys((*revoked, *self._issuers.difference(issuers)), REMOVED)
        ended |= {
            digest: expires
            for digest, expires in current.items()
            if expires is not None and expires != earlier.get(digest, expires)
        }
        self._expirations = {**current, **earlier}
        self._issuers.update(issuers)
        if not ended and not self._published:
            return
        draft = self._file.with_suffix(".tokens.new")
        try:
            draft.write_bytes(orjson.dumps(ended))
            draft.replace(self._file)
            self._published = True
        except OSError as error:
            log.error("streams of removed tokens go on until their worker ends: %s", error)

    def read(self) -> Mapping[str, float]:
        """The ends by digest, in a worker; the file is read again when it has changed."""
        try:
            stat = self._file.stat()
            version = (stat.st_ino, stat.st_mtime_ns)
            if version != self._read[0]:
                self._read = (version, orjson.loads(self._file.read_bytes()))
        except OSError:  # nothing was removed, or the folder was: what was read remains true
            pass
        return self._read[1]


def _expirations(tokens: Mapping[str, Caller]) -> dict[str, float | None]:
    return {digest: caller.expires for digest, caller in tokens.items()}
