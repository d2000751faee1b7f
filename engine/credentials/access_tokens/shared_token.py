"""A token that the workers of a machine share: a file in their runtime directory.

The directory is in memory and closed to other users (`process/runtime_dir.py`), the file has mode
0600. Its name is a digest of everything that the token depends on, so that a changed config never
finds the token of the old one.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import gevent

from engine.credentials.access_tokens.token import Token
from engine.process.runtime_dir import prepare

log = logging.getLogger("modelway")

_MAX_LOCK = 35.0
"""The longest wait for another worker's fetch, in seconds."""
_POLL_SECONDS = 0.05


class SharedToken:
    """The file of a token, `name` in `folder`. If the disk fails, that is logged, and each worker
    fetches its own token."""

    def __init__(self, folder: Path, name: str, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._path = folder / f"token-{name}"
        self._clock = clock

    def get(self, refused: Token | None, fetch: Callable[[], Token]) -> Token:
        """The shared token, or else a new one from `fetch`, which one worker at a time calls. A
        shared token with the values of the `refused` one is replaced."""
        try:
            prepare(self._folder)
            with self._locked():
                token = self._read()
                if token is None or (refused is not None and token.values == refused.values):
                    token = fetch()
                    self._write(token)
                return token
        except OSError as error:
            log.warning("a token is not shared by the workers: %s", error)
            return fetch()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(f"{self._path}.lock", flags, 0o600)
        try:
            deadline = time.monotonic() + _MAX_LOCK
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        break  # the other worker's fetch hangs; this one may succeed
                    gevent.sleep(_POLL_SECONDS)
            yield
        finally:
            os.close(lock)

    def _read(self) -> Token | None:
        """The token in the file; None if there is none, or its renewal is due."""
        try:
            token = Token.load(self._path.read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        # The earliest share of `TokenSource`: the first worker that is due fetches for all.
        return token if self._clock() < token.renew_at(0.75) else None

    def _write(self, token: Token) -> None:
        temporary = Path(f"{self._path}.{os.getpid()}")
        flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(token.dump())
        temporary.replace(self._path)
        self._remove_ended()

    def _remove_ended(self) -> None:
        """Remove expired tokens, such as those of credentials that are no longer configured."""
        files = (path for path in self._folder.glob("token-*") if not path.suffix)
        for path in files:
            with contextlib.suppress(OSError, ValueError):
                if Token.load(path.read_bytes()).expires <= self._clock():
                    path.unlink()
