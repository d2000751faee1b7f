"""Faults that a request asks for by the name of its model, as that passes through a gateway.

fault-status-503                the error object with that status
fault-status-429-retry-after-2  ... with a Retry-After header, in seconds
fault-slow-0.5                  half a second before the first byte
fault-close                     the connection is closed before an answer
fault-close-after-3             ... after three events
fault-stall-after-3             nothing more after three events, the connection stays open
fault-error-after-3             an error event inside a 200, after three events
fault-garbage                   bytes that are not HTTP
fault-code-1011                 a WebSocket is closed with that code as soon as it is open
fault-code-1011-after-3         ... after three messages

Over a WebSocket, faults before an answer come before the upgrade, and each message of the mock
counts as an event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from engine.exchange.caller_connection import CallerConnection
from engine.values.errors import AbortConnection, AbortReason, GatewayError

_FAULT = re.compile(
    r"fault-(?P<kind>status|slow|close|stall|error|garbage)"
    r"(?:-(?:after-)?(?P<number>\d+(?:\.\d+)?))?(?:-retry-after-(?P<retry>\d+(?:\.\d+)?))?"
)
# RFC 6455 7.4: the codes that a close frame may have.
_CODE = re.compile(r"fault-code-(?P<code>100[0-37-9]|101[0-4]|[34]\d{3})(?:-after-(?P<after>\d+))?")
_GARBAGE = b"\x00\x01 this is not HTTP \xff\r\n\r\n"


class MockFault(Struct, frozen=True):
    """A fault: `number` is a status, seconds, or the events to send first; `code` the close code of
    a WebSocket."""

    kind: str
    number: float | None
    retry: str = ""
    code: int = 0


def fault_of(model: str) -> MockFault | None:
    """The fault that the name of a model requests."""
    if (close := _CODE.fullmatch(model)) is not None:
        return MockFault("code", float(close["after"] or 0), code=int(close["code"]))
    match = _FAULT.fullmatch(model)
    if match is None:
        return None
    number = float(match["number"]) if match["number"] else None
    return MockFault(match["kind"], number, match["retry"] or "")


def sender(connection: CallerConnection) -> Callable[[bytes], None]:
    """A function that sends raw bytes; under WSGI servers without access to the socket, nothing."""

    def send_raw(data: bytes) -> None:
        if connection.can_take_over:
            connection.take_over()[0].sendall(data)

    return send_raw


def apply_before_response(
    fault: MockFault, send_raw: Callable[[bytes], None], sleep: Callable[[float], None]
) -> None:
    """Apply the fault if it is one before the response. Raises GatewayError or AbortConnection."""
    if fault.kind == "status":
        headers = [("retry-after", fault.retry)] if fault.retry else []
        status = int(fault.number or 500)
        raise GatewayError(
            status, "mock_fault", f"The mock was asked for {status}.", headers=headers
        )
    if fault.kind == "slow":
        sleep(fault.number or 1.0)
    elif fault.kind == "garbage":
        send_raw(_GARBAGE)
        raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, "the mock was asked for garbage")
    elif fault.kind == "close" and fault.number is None:
        raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, "the mock was asked to close")


def apply_to_stream(
    fault: MockFault, events: Iterator[bytes], error_event: bytes, sleep: Callable[[float], None]
) -> Iterator[bytes]:
    """The events of a stream, with the fault after `fault.number` of them."""
    if fault.kind in ("slow", "code"):
        yield from events
        return
    remaining = fault.number
    for event in events:
        if remaining == 0:
            break
        yield event
        remaining = remaining - 1 if remaining is not None else None
    if remaining != 0:
        return
    if fault.kind == "error":
        yield error_event
    elif fault.kind == "close":
        raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, "the mock was asked to close")
    elif fault.kind == "stall":
        sleep(3600)
