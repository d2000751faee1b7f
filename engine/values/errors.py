"""Errors of a request: status, code, parameter and message for the caller.

The dialect gives an error its form. Its status says whose fault it is: 4xx the caller's, 5xx the
gateway's or the upstream's.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

_E = TypeVar("_E", bound=BaseException)

MAX_RETRY_WAIT = 60.0
"""The longest wait, in seconds, after which a client may retry by itself: some SDKs sleep for any
`retry-after`, others retry at once when it is too long for them."""


class GatewayError(Exception):
    """An error response.

    `status` is the HTTP status, `code` a stable word for programs, `param` the place in the
    request (`messages[0].role`), `retry` False when a client must not retry automatically, as after
    a `retry-after` (in seconds) of over MAX_RETRY_WAIT. `details` are what the caller's vendor says
    of this error besides, where its SDKs read that.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str = "",
        headers: Sequence[tuple[str, str]] = (),
        retry: bool | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.headers = list(headers)
        self.details = details
        wait = next((float(value) for name, value in headers if name == "retry-after"), 0.0)
        if wait > MAX_RETRY_WAIT:
            retry = False
        if retry is not None:
            self.headers.append(("x-should-retry", "true" if retry else "false"))


def without_frames(error: _E) -> _E:
    """Remove the traceback and the causes of an error that was handled, and return it. Their frames
    refer to the request, and that may refer to the error: a reference cycle."""
    error.__traceback__ = error.__cause__ = error.__context__ = None
    return error


class Malformed(ValueError):
    """A text of a request cannot be decoded; the message says which one and where."""


class AbortReason(StrEnum):
    """Why a connection is closed without a complete response."""

    CALLER_LEFT = "the caller left"
    RESPONSE_BROKE_OFF = "the response broke off"
    """The rest of the response cannot be sent: its source failed."""
    SHUTDOWN = "the worker ends"
    REVOKED = "the token was revoked or has expired"
    SESSION_ENDED = "the WebSocket session ended"
    """The connection carried WebSocket frames: no HTTP response may follow on it."""


class AbortConnection(ConnectionResetError):
    """Close the caller's connection without ending the response; `reason` says why.

    As an OSError with ECONNRESET it makes gunicorn close the socket without a traceback and
    without the final chunk, so that a caller never takes half a response for a complete one.
    """

    def __init__(self, reason: AbortReason, detail: str = "") -> None:
        super().__init__(errno.ECONNRESET, detail or reason.value)
        self.reason = reason


def invalid_value(at: str, expected: str) -> GatewayError:
    """The refusal of a request for its value at a place or of a parameter."""
    message = f"Invalid value for '{at}': expected {expected}."
    return GatewayError(400, "invalid_value", message, param=at)


def shutting_down() -> GatewayError:
    """503: the worker ends before the answer is complete."""
    return GatewayError(
        503,
        "shutting_down",
        "This gateway is restarting and ended the request before its answer was complete. "
        "Send it again.",
        headers=[("retry-after", "1")],
    )


def token_ended() -> GatewayError:
    """401: the token was revoked or expired before the answer was complete."""
    return GatewayError(
        401,
        "invalid_api_key",
        "The token has expired or was revoked, so this gateway ended the request before its answer "
        "was complete. Ask the platform's operator for a new token.",
        headers=[("www-authenticate", "Bearer")],
    )


def caller_left() -> GatewayError:
    """499: the caller left before the answer began. Only records show it."""
    return GatewayError(499, "caller_left", "The caller left before the answer began.")


class EventTooLarge(Exception):
    """A server-sent event exceeds the size limit: the stream cannot be relayed event by event."""


def too_many_large_requests() -> GatewayError:
    """503: the processes for requests with large bodies have no room for another one."""
    message = "Too many requests with large bodies are being served. Try again in a moment."
    headers = [("retry-after", "1")]
    return GatewayError(503, "too_many_large_requests", message, headers=headers)


def too_many_connections() -> GatewayError:
    """503: there is no descriptor for another connection."""
    message = "The gateway has no room for another connection. Try again in a moment."
    headers = [("retry-after", "1")]
    return GatewayError(503, "too_many_connections", message, headers=headers)
