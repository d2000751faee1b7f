"""Retry rules: which failures allow a retry, the backoff, and the retry budget.

    class      what happened                                            counts against the target
    connect    refused, unreachable, DNS, TLS, no connection in time    yes
    reset      closed before any byte of a response, a stream also
               when it breaks before any content                        yes
    408, 429   the upstream asks to retry later                         408 yes, 429 no
    5xx        every status from 500 to 599, an unknown one is a 500
               (RFC 9110 section 15), but 501, 505 to 508, 510 and 511  yes
    error      an error event as the first event of a 200, of the
               upstream's own fault or of an unknown kind; an answer
               that cannot be translated                                yes
    credential 401, 402, 403: ours, not the caller's, or there is no    no; it is set aside, and a
               token to send                                            token fetched anew once
    fatal      a timeout after the request was sent, a response that    yes, and is never
               is not HTTP: the upstream may be processing it            retried
    (none)     any other response: relayed to the caller                no

An error event about the caller's request, a limit or a credential has the class of the status that
the dialect gives the same error without a stream.

Nothing is retried after the first content.

The time to wait that an upstream's error names in its body is read as the header `retry-after`.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Collection
from datetime import UTC
from email.utils import parsedate_to_datetime

from engine.dialects.interface.error_forms import wait_in
from engine.upstream.client.failures import Silence, UpstreamFailure
from engine.upstream.client.response import MAX_ERROR, IncomingResponse
from engine.values.content_coding import decode_body
from engine.values.event_json import json_or_none

_RELAYED_5XX = frozenset({501, 505, 506, 507, 508, 510, 511})
"""Registered statuses that say that another attempt would fail alike."""
_CREDENTIAL_STATUSES = frozenset({401, 402, 403})
_FIRST_BACKOFF = 0.25
_MAX_BACKOFF = 8.0
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")
_MAX_SECONDS = 1.0
"""How long a body is waited for: another target may answer meanwhile."""


def status_class(status: int) -> str:
    """The class of a response's status; "" for one that is relayed to the caller."""
    if status < 400:
        return ""
    if status in _CREDENTIAL_STATUSES:
        return "credential"
    if status in (408, 429):
        return str(status)
    return "5xx" if 500 <= status < 600 and status not in _RELAYED_5XX else ""


def error_event_class(status: int | None) -> str:
    """The class of an error event before any content; `status` is the one that the error has
    without a stream, None for an error of an unknown kind."""
    failure = "5xx" if status is None else status_class(status)
    return "error" if failure == "5xx" else failure


_KINDS = {
    "connect": "connect",
    "connect_timeout": "connect",
    "reset": "reset",
    "answer": "error",
    "credential": "credential",
}
_STREAM_KINDS = _KINDS | {"truncated": "reset", "protocol": "reset"}


def failure_class(kind: str, *, stream: bool = False) -> str:
    """The class of an UpstreamFailure's kind; "" for one that must not be retried.

    `stream`: the head of a stream had arrived, and no content yet.
    """
    return (_STREAM_KINDS if stream else _KINDS).get(kind, "")


def counts_against_target(failure: str) -> bool:
    """Whether a failure of this class counts against the target's breaker."""
    return failure not in ("", "429", "credential")


def backoff(retries: int, dice: Callable[[], float]) -> float:
    """Seconds to wait after `retries` retries: exponential backoff with full jitter."""
    return dice() * min(_MAX_BACKOFF, _FIRST_BACKOFF * 2.0**retries)


def retry_delay(retry_after_ms: str | None, retry_after: str | None, now: float) -> float | None:
    """The seconds that an upstream asks to wait, or None. `now` is in Unix seconds.

    `retry-after-ms` comes before `retry-after`, which holds seconds or an HTTP date
    (RFC 9110 section 10.2.3).
    """
    milliseconds = (retry_after_ms or "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    retry_after = (retry_after or "").strip()
    if not retry_after:
        return None
    if _NUMBER.fullmatch(retry_after):
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)


class Budget:
    """The retry budget of an upstream, a token bucket: each request adds `share` of a retry, so
    that retries do not prolong an outage. It holds `spare` retries, and is full at the start."""

    __slots__ = ("_share", "_spare", "_tokens")

    def __init__(self, share: float, spare: int = 10) -> None:
        self._share = share
        self._spare = float(spare)
        self._tokens = float(spare)

    def request(self) -> None:
        """Record a first attempt, which adds its share of a retry."""
        if self._tokens < self._spare:
            self._tokens = min(self._spare, self._tokens + self._share)

    def take(self) -> bool:
        """Take a retry; False if none is left."""
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True


def may_retry(failure: str, on: Collection[str]) -> bool:
    """Whether a failure of this class is retried: its class is in `on` (`retry.on`), or a
    credential was refused."""
    return failure in on or failure == "credential"


def note_wait(
    received: IncomingResponse,
    response: IncomingResponse,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Add the time that the body of an error names to the headers of `response`, which may wrap it,
    if the upstream has sent none, and the body arrives soon. The body is read again."""
    if received.header("retry-after") or received.header("retry-after-ms"):
        return
    body = _start_of(received, clock)
    received.unread(body)
    text = decode_body(received.header("content-encoding") or "", body)
    set_wait(response, wait_in(json_or_none(text or b"")))


def _start_of(received: IncomingResponse, clock: Callable[[], float]) -> bytes:
    """What arrives of a body in _MAX_SECONDS, MAX_ERROR bytes or some more."""
    body, end = b"", clock() + _MAX_SECONDS
    try:
        while len(body) <= MAX_ERROR and (seconds := end - clock()) > 0:
            data = received.read(beat=seconds)
            if not data:
                break
            body += data
    except Silence:
        pass  # the rest is still to come
    except UpstreamFailure as failure:
        failure.without_traceback()  # whoever reads the body gets it
    return body


def set_wait(response: IncomingResponse, seconds: float | None) -> None:
    """Add the header, rounded up to seconds, unless a response has it."""
    if seconds is not None and not response.header("retry-after"):
        response.headers = [*response.headers, ("retry-after", str(math.ceil(seconds)))]
