"""The upgrade of an upstream's connection to a WebSocket: request headers, check of the response.

`Forward` sends the request like any other; `Upgrade` holds what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.exchange.member_protocols import UpgradeResponse
from engine.relay.websocket.channel import Channel
from engine.relay.websocket.handshake import (
    Extensions,
    UpgradeRequest,
    answer_to,
    deflate_offer,
    negotiated_deflate,
    new_key,
)
from engine.upstream.client.failures import ProtocolFailure
from engine.values.wildcard import matches


class Upgrade:
    """The upgrade of an exchange whose caller requests a WebSocket.

    `headers` are sent to the upstream, with the caller's subprotocols that match one of `allowed`.
    After a `check` without error, `response` is the upstream's 101, and `protocol` and `extensions`
    are those agreed on with it. `redact` removes credentials from its messages. `caller` is the
    caller's side if it was accepted before, and `opening` the message that the upstream gets first.
    """

    def __init__(self, request: UpgradeRequest, allowed: Sequence[str], compression: bool) -> None:
        self.response: UpgradeResponse | None = None
        self.redact: Callable[[bytes], bytes] | None = None
        self.caller: Channel | None = None
        self.opening = b""
        self.extensions: Extensions = ()
        self.protocol = ""
        self._key = new_key()
        self._compression = compression
        self._offered = [
            name for name in request.protocols if any(matches(name, p) for p in allowed)
        ]
        self.headers = [
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", self._key),
        ]
        if self._offered:
            self.headers.append(("sec-websocket-protocol", ", ".join(self._offered)))
        if compression:
            self.headers.append(("sec-websocket-extensions", deflate_offer()))

    @property
    def caller_protocol(self) -> str:
        """The subprotocol for the caller: the upstream's choice, else the first allowed one,
        because a browser fails if it offered subprotocols and none is chosen. "" if none is
        allowed: the others may carry a token."""
        return self.protocol or next(iter(self._offered), "")

    def check(self, response: UpgradeResponse) -> None:
        """Check an upstream's response by RFC 6455 4.1. Raises ProtocolFailure."""
        if response.status != 101:
            raise _failure("it did not switch protocols")
        if (response.header("upgrade") or "").lower() != "websocket":
            raise _failure("it switched to another protocol")
        if response.header("sec-websocket-accept") != answer_to(self._key):
            raise _failure("its Sec-WebSocket-Accept is wrong")
        protocols = _all(response, "sec-websocket-protocol")
        if protocols and (len(protocols) > 1 or protocols[0] not in self._offered):
            raise _failure("it chose a subprotocol that was not offered")
        try:
            extensions = negotiated_deflate(
                _all(response, "sec-websocket-extensions"), self._compression
            )
        except ValueError as error:
            raise _failure(str(error)) from error
        self.protocol = protocols[0] if protocols else ""
        self.extensions = extensions
        self.response = response


def _all(response: UpgradeResponse, name: str) -> list[str]:
    """All values of a header."""
    return [pair[1] for pair in response.headers if pair[0] == name]


def _failure(words: str) -> ProtocolFailure:
    return ProtocolFailure(words).after_start()
