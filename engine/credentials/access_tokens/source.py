"""The current token of one credential in one worker.

The law: a token is renewed in the background when about 80 % of its lifetime is over, and used
until it expires. Requests without a token wait for the same fetch. After a failed fetch the next
one starts after 1 s, then after twice as long each time, up to 1 min; requests without a token then
fail at once with the last failure. If the upstream refuses a token, it is fetched again, at most
once a minute.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable

import gevent

from engine.credentials.access_tokens.token import CredentialUnavailable, Token

log = logging.getLogger("modelway")

WAIT = 30.0
"""The longest wait of a request for a token, in seconds."""

_FIRST_PAUSE = 1.0
_MAX_PAUSE = 60.0
_BETWEEN_REFUSALS = 60.0
_IN_FLIGHT = 5.0
"""Seconds after a refusal in which requests that were sent with the same token may be refused."""

Fetch = Callable[[Token | None], Token]
"""Returns a token that differs from the given one, which was refused. It runs in its own greenlet.
Raises CredentialUnavailable."""


class TokenSource:
    """The token of a credential, called `label` in logs. `changed` is called after a fetch. `clock`
    gives Unix seconds. `dice` gives a random number from 0 to 1: a token is renewed after 75 to
    85 % of its lifetime."""

    def __init__(
        self,
        label: str,
        fetch: Fetch,
        changed: Callable[[], None],
        *,
        clock: Callable[[], float] = time.time,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._label = label
        self._fetch = fetch
        self._changed = changed
        self._clock = clock
        self._dice = dice
        self._tokens: list[Token] = []  # the previous one, if any, then the current one
        self._valid = False
        self._renew_at = 0.0
        self._failure: CredentialUnavailable | None = None
        self._pause = _FIRST_PAUSE
        self._retry_at = 0.0
        self._refused_at = -math.inf
        self._running: gevent.Greenlet[..., None] | None = None

    def get(self, timeout: float = WAIT) -> Token:
        """The current token. If there is none, waits up to `timeout` seconds, at most WAIT. Raises
        CredentialUnavailable."""
        now = self._clock()
        if now < self._renew_at:
            return self._tokens[-1]
        if self._running is None and now >= self._retry_at:
            self._running = gevent.spawn(self._renew)
        if self._valid and now < self._tokens[-1].expires:
            return self._tokens[-1]
        if self._running is not None:
            self._running.join(min(timeout, WAIT))
            if self._valid and self._clock() < self._tokens[-1].expires:
                return self._tokens[-1]
        if (last := self._failure) is not None:
            raise CredentialUnavailable(last.words, last.detail, lasting=last.lasting)
        raise CredentialUnavailable("its token was not fetched in time", self._label)

    @property
    def tokens(self) -> list[Token]:
        """The current token and the previous one, which requests may still carry."""
        return self._tokens

    def renew(self) -> bool:
        """Called when the upstream refused the current token. Returns whether the next `get` has a
        new one."""
        now = self._clock()
        if not self._valid:
            return False
        if now - self._refused_at < _BETWEEN_REFUSALS:
            return now - self._refused_at < _IN_FLIGHT
        log.info("the upstream refused the token of %s, which is fetched again", self._label)
        self._refused_at = now
        self._valid, self._renew_at, self._retry_at = False, 0.0, 0.0
        return True

    def _renew(self) -> None:
        refused = self._tokens[-1] if self._tokens and not self._valid else None
        try:
            token = self._fetch(refused)
            if token.expires <= self._clock():
                words = "its token server returned an expired token"
                raise CredentialUnavailable(words, f"{self._label}; compare the clocks")
            self._succeeded(token)
        except CredentialUnavailable as failure:
            self._failed(failure)
        except Exception as error:
            log.exception("the token of %s was not fetched", self._label)
            self._failed(CredentialUnavailable("its token was not fetched", type(error).__name__))
        finally:
            self._running = None

    def _succeeded(self, token: Token) -> None:
        self._tokens = [*self._tokens[-1:], token]
        self._valid, self._failure = True, None
        self._pause, self._retry_at = _FIRST_PAUSE, self._clock() + _FIRST_PAUSE
        self._renew_at = token.renew_at(0.75 + 0.1 * self._dice())
        self._changed()
        life = token.expires - self._clock()
        expiry = f"in {life:.0f} s" if math.isfinite(life) else "at an unknown time"
        log.info("fetched a token of %s, which expires %s", self._label, expiry)

    def _failed(self, failure: CredentialUnavailable) -> None:
        self._failure = failure
        self._retry_at = self._clock() + self._pause * (0.5 + 0.5 * self._dice())
        self._pause = min(_MAX_PAUSE, self._pause * 2)
        log.warning("no new token of %s: %s", self._label, failure)
