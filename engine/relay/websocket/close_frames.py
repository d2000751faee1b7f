"""How sessions end: the close frame for each side, and the outcome.

The law, as sent to the caller / to the upstream:

    a close from one side         is answered, and passed to the other; 1005, 1006, 1015
                                  become 1000, 1011, 1014
    the caller has disconnected   -- / 1011
    the upstream has disconnected the error event and 1011 / --
    one side breaks the protocol  to it 1002, 1007, 1008 or 1009; to the other 1011, or 1009 for
                                  1009
    idle or too long              1001 / 1001
    the worker stops              1012 / 1012
    the token is revoked          the error event and 1008 / 1001
"""

from __future__ import annotations

from typing import NamedTuple

from websockets.frames import Close

from engine.exchange.outcome import Outcome
from engine.relay.websocket.frames import Violation
from engine.values.errors import GatewayError, token_ended

ABNORMAL = 1006
_CLOSE_TIMEOUT = 2.0
_RESTART_TIMEOUT = 1.0
_DISCONNECT_TIMEOUT = 0.5


class Ending(NamedTuple):
    """The close frames for the two sides, the `timeout` of the closing handshakes in seconds, and
    the `error` that is sent to the caller first. `outcome` is for the record."""

    caller: Close
    upstream: Close
    timeout: float = _CLOSE_TIMEOUT
    error: GatewayError | None = None
    outcome: Outcome = Outcome.COMPLETE


def close_both(code: int, reason: str) -> Ending:
    """The gateway ends the session: both sides receive the same close."""
    return Ending(Close(code, reason), Close(code, reason))


def restart() -> Ending:
    """The worker stops."""
    close = Close(1012, "the gateway restarts; connect again")
    return Ending(close, close, _RESTART_TIMEOUT, outcome=Outcome.SHUTDOWN)


def token_revoked() -> Ending:
    """The caller's token was revoked or has expired."""
    to_caller = Close(1008, "the token was revoked or has expired")
    to_upstream = Close(1001, "the caller may not go on")
    return Ending(to_caller, to_upstream, error=token_ended(), outcome=Outcome.REVOKED)


def close_received(close: Close | None) -> Ending:
    """One side has sent a close frame; None for one without a code."""
    close = close or Close(ABNORMAL, "")
    return Ending(close, close)


def caller_disconnected() -> Ending:
    """The caller has disconnected without a close frame."""
    close = Close(ABNORMAL, "the caller left")
    return Ending(close, close, _DISCONNECT_TIMEOUT, outcome=Outcome.CALLER_LEFT)


def upstream_disconnected() -> Ending:
    """The upstream has disconnected without a close frame."""
    close = Close(ABNORMAL, "the upstream left")
    return _upstream_failed(close, close, "The upstream left in the middle of the session.")


def caller_violation(violation: Violation) -> Ending:
    """The caller has broken the protocol."""
    to_upstream = Close(_code_for_peer(violation), "the caller's message is not valid")
    return Ending(Close(violation.code, violation.reason), to_upstream)


def upstream_violation(violation: Violation) -> Ending:
    """The upstream has broken the protocol."""
    to_caller = Close(_code_for_peer(violation), "the upstream's message is not valid")
    failure = f"The upstream's message is not valid: {violation.reason}."
    return _upstream_failed(to_caller, Close(violation.code, violation.reason), failure)


def _upstream_failed(caller: Close, upstream: Close, failure: str) -> Ending:
    error = GatewayError(502, "upstream_error", failure)
    return Ending(caller, upstream, error=error, outcome=Outcome.UPSTREAM_CUT)


def _code_for_peer(violation: Violation) -> int:
    return violation.code if violation.code == 1009 else 1011
