"""Why the gateway ends an open exchange, raised in its greenlet.

`GreenletExit` itself: the worker ends. `TokenRevoked`: the caller's token is no longer valid.
`CallerLeft`: the socket has closed over which the request was one of several.
`CallCancelled`: the caller has cancelled the request by another one.
"""

from __future__ import annotations

from typing import NamedTuple

from gevent import GreenletExit

from engine.exchange.outcome import Outcome
from engine.values.errors import AbortReason, GatewayError, caller_left, shutting_down, token_ended


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
