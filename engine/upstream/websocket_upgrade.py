"""A request that is to become a WebSocket: how an upstream is asked for it, and what it answered.

`Forward` sends it like any other request; what is different about it stands in `Upgrade`.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.exchange.interfaces import UpgradeResponse
from engine.relay.websocket.handshake import (
    Extensions,
    UpgradeRequest,
    answer_to,
    deflate_offer,
    deflate_taken,
    new_key,
)
from engine.upstream.client.failures import ProtocolFailure
from engine.values.wildcard import matches


class Upgrade:
    """What an exchange carries when its caller asked for a WebSocket.

    `headers` go to the upstream; of the offered subprotocols those that match one of `passing` do.
    After `check` has let an answer through it is `response`, and `protocol` and `extensions` are
    what was agreed on with the upstream.
    """

    def __init__(self, asked: UpgradeRequest, passing: Sequence[str], compression: bool) -> None:
        self.asked = asked
        self.response: UpgradeResponse | None = None
        self.extensions: Extensions = ()
        self.protocol = ""
        self._key = new_key()
        self._compression = compression
        self._offered = [name for name in asked.protocols if any(matches(name, p) for p in passing)]
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
    def answered(self) -> str:
        """The subprotocol for the caller: the upstream's choice, else the first that passes, for a
        browser gives up if it offered some and got none. "" where none passes: what stays here
        may be somebody's secret."""
        return self.protocol or next(iter(self._offered), "")

    def check(self, response: UpgradeResponse) -> None:
        """Hold an upstream's answer against RFC 6455 4.1. Raises ProtocolFailure."""
        if response.status != 101:
            raise _failure("it did not switch protocols")
        if (response.header("upgrade") or "").lower() != "websocket":
            raise _failure("it switched to another protocol")
        if response.header("sec-websocket-accept") != answer_to(self._key):
            raise _failure("its Sec-WebSocket-Accept is wrong")
        chosen = _all(response, "sec-websocket-protocol")
        if chosen and (len(chosen) > 1 or chosen[0] not in self._offered):
            raise _failure("it chose a subprotocol that was not offered")
        try:
            taken = deflate_taken(_all(response, "sec-websocket-extensions"), self._compression)
        except ValueError as error:
            raise _failure(str(error)) from error
        self.protocol = chosen[0] if chosen else ""
        self.extensions = taken
        self.response = response


def _all(response: UpgradeResponse, name: str) -> list[str]:
    return [value for known, value in response.headers if known == name]


def _failure(words: str) -> ProtocolFailure:
    failure = ProtocolFailure(words)
    failure.sent = failure.answered = True
    return failure
