"""The credentials of an upstream: which one is next, and how each kind is put on a request.

A kind of credential is one function of `APPLY`. It gets the request as it will be sent, method,
URL, headers and body, so that it may also sign it.

A credential whose response was 429 is set aside as long as Retry-After says; one that was refused
(401, 402, 403) for longer, because only an operator can correct it. A single credential is
never set aside: nothing could take its place, and the limit of one model need not hold for another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

from engine.config.upstreams import Credential
from engine.spec.query_string import Query
from engine.upstream.client.request import UpstreamRequest

REFUSED_SECONDS = 60.0
"""Seconds for which a refused credential is set aside."""


def _header(credential: Credential, request: UpstreamRequest) -> None:
    """Set a header, in place of any of its name."""
    headers = request.headers
    if credential.name in dict(headers):
        headers[:] = [pair for pair in headers if pair[0] != credential.name]
    headers.append((credential.name, credential.value))


def _query(credential: Credential, request: UpstreamRequest) -> None:
    """Set a parameter of the query string. The caller's of that name is removed: it would come
    first, and the upstream might read that one."""
    query = request.query
    other_parameters = Query.parse(query).without({credential.name}) if query else ""
    pair = f"{quote(credential.name, safe='')}={quote(credential.value, safe='')}"
    request.query = f"{other_parameters}&{pair}" if other_parameters else pair


APPLY: Mapping[str, Callable[[Credential, UpstreamRequest], None]] = {
    "header": _header,
    "query": _query,
}
"""How each kind of credential is put on a request: the last change before it is sent."""


class Credentials:
    """The credentials of one upstream in one worker, used in turn. Times are seconds of a monotonic
    clock. ValueError for a kind that is not in `APPLY`."""

    __slots__ = ("_credentials", "_next", "_refused_until", "_resting_until")

    def __init__(self, credentials: Sequence[Credential]) -> None:
        for credential in credentials:
            if credential.kind not in APPLY:
                raise ValueError(f"'{credential.kind}' is no kind of credential")
        self._credentials = list(credentials)
        self._resting_until = [0.0] * len(self._credentials)
        self._refused_until = [0.0] * len(self._credentials)
        self._next = 0

    def __bool__(self) -> bool:
        return bool(self._credentials)

    def take(self, now: float) -> Credential | None:
        """The next credential that is not set aside; None if there is none."""
        for step in range(len(self._credentials)):
            index = (self._next + step) % len(self._credentials)
            if self._resting_until[index] <= now:
                self._next = index + 1
                return self._credentials[index]
        return None

    def set_aside(self, credential: Credential, until: float, *, refused: bool = False) -> None:
        """Set a credential aside until a time, unless it is the only one."""
        if len(self._credentials) == 1:
            return
        index = self._credentials.index(credential)
        self._resting_until[index] = max(self._resting_until[index], until)
        if refused:
            self._refused_until[index] = self._resting_until[index]

    def all_refused(self, now: float) -> bool:
        """Whether each of them is set aside because the upstream refused it."""
        return bool(self._credentials) and min(self._refused_until) > now

    def wait(self, now: float) -> float:
        """Seconds until one of them can be used."""
        return max(0.0, min(self._resting_until, default=0.0) - now)
