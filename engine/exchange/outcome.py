"""How exchanges end, and why the gateway ends an open one: what is raised in its greenlet.

`GreenletExit` itself: the worker ends. `TokenRevoked`: the caller's token is no longer valid.
`CallerLeft`: the socket has closed over which the request was one of several.
`CallCancelled`: the caller has cancelled the request by another one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from gevent import GreenletExit

from engine.values.errors import AbortReason, GatewayError, caller_left, shutting_down, token_ended


class Outcome(StrEnum):
    """How an exchange ended, as the ledger, the access log and the metrics name it."""

    OPEN = ""
    """The exchange has not ended."""
    COMPLETE = "complete"
    CALLER_LEFT = "caller_left"
    """The caller closed the connection before the response was complete."""
    UPSTREAM_CUT = "upstream_cut"
    """The upstream's response ended too early, after its first content."""
    SHUTDOWN = "shutdown"
    """The worker stopped before the response was complete."""
    REVOKED = "revoked"
    """The caller's token was revoked or expired before the response was complete."""
    REFUSED = "refused"
    """Status 4xx."""
    FAILED = "failed"
    """Status 5xx."""

    @classmethod
    def of_status(cls, status: int) -> Outcome:
        """The outcome of a response that was sent completely."""
        if status < 400:
            return cls.COMPLETE
        return cls.REFUSED if status < 500 else cls.FAILED


class TokenRevoked(GreenletExit):
    """The token of the exchange was revoked, or has expired."""


class CallerLeft(GreenletExit):
    """The caller has closed the socket of the exchange, or broken its protocol."""


class CallCancelled(GreenletExit):
    """The caller has sent another request that cancels this one."""


class Interruption(NamedTuple):
    """How an interrupted exchange ends: the outcome for its record, why its connection is closed,
    and the error for the caller."""

    outcome: Outcome
    reason: AbortReason
    error: GatewayError


def interruption(cause: GreenletExit) -> Interruption:
    """How an exchange ends in whose greenlet `cause` was raised."""
    if isinstance(cause, TokenRevoked):
        return Interruption(Outcome.REVOKED, AbortReason.REVOKED, token_ended())
    if isinstance(cause, CallerLeft):
        return Interruption(Outcome.CALLER_LEFT, AbortReason.CALLER_LEFT, caller_left())
    if isinstance(cause, CallCancelled):
        cancelled = GatewayError(499, "cancelled", "The caller cancelled the request.")
        return Interruption(Outcome.CALLER_LEFT, AbortReason.RESPONSE_BROKE_OFF, cancelled)
    return Interruption(Outcome.SHUTDOWN, AbortReason.SHUTDOWN, shutting_down())
