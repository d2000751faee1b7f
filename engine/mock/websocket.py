"""The mock's WebSocket endpoint: it receives while it sends, and applies faults."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator

import gevent
from gevent.queue import Empty, Queue

from engine.edge.send_response import common_headers
from engine.exchange.exchange import Exchange, Handler, Response
from engine.mock import faults
from engine.mock.conversations import Conversation, MockMessage, open_conversation
from engine.relay.websocket.endpoint import Closed, Endpoint, Message, accept
from engine.relay.websocket.handshake import subprotocols_of
from engine.spec.parameters.query_string import Query
from engine.values.errors import AbortConnection, AbortReason

log = logging.getLogger("modelway")


class CloseRequested(Exception):
    """The model's name asks the mock to close with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"The mock was asked for {code}.")
        self.code = code


def session(conversation: str, delay: float) -> Handler:
    """The handler of an operation that is a WebSocket. `conversation` is the name of a module in
    `conversations/`, `delay` the seconds between two pieces."""

    def handle(exchange: Exchange) -> Response:
        model = Query.parse(exchange.query).get("model") or ""
        environ = exchange.environ
        fault = faults.fault_of(model)
        if fault is not None:
            send_raw = faults.sender(exchange.connection)
            faults.apply_before_response(fault, send_raw, gevent.sleep)
        partner = open_conversation(conversation, model, subprotocols_of(environ))
        headers = common_headers(exchange).items()
        endpoint = accept(environ, exchange.connection, protocol=partner.protocol, headers=headers)
        try:
            converse(endpoint, partner, fault, delay)
        except AbortConnection:
            raise
        except Exception as error:
            log.exception("request %s failed in its session", exchange.request_id)
            raise AbortConnection(AbortReason.SESSION_ENDED, "the session failed") from error
        raise AbortConnection(AbortReason.SESSION_ENDED)

    return handle


def converse(
    endpoint: Endpoint, partner: Conversation, fault: faults.MockFault | None, delay: float
) -> None:
    """Run a session to its end. Raises AbortConnection if a fault cuts the connection."""
    inbox: Queue[Message | None] = Queue(1)
    listener = gevent.spawn(_listen, endpoint, inbox)
    code, reason = 1000, ""
    try:
        _Sender(endpoint, partner, fault).run(inbox, delay)
    except CloseRequested as close:
        code, reason = close.code, str(close)
    except Closed:
        pass  # the other side closed during a send
    finally:
        listener.kill()
    endpoint.close(code, reason)


def _listen(endpoint: Endpoint, inbox: Queue[Message | None]) -> None:
    """Put received messages into the inbox, None at the end."""
    try:
        while True:
            inbox.put(endpoint.receive())
    except Closed:
        inbox.put(None)


class _Sender:
    """Sends the answers, and applies the fault after the number of messages that it names."""

    def __init__(
        self, endpoint: Endpoint, partner: Conversation, fault: faults.MockFault | None
    ) -> None:
        self._endpoint = endpoint
        self._partner = partner
        self._fault = fault
        self._remaining = fault.number if fault is not None else None
        self._silent = False

    def run(self, inbox: Queue[Message | None], delay: float) -> None:
        """Answer until the other side closes. Raises CloseRequested, Closed and AbortConnection."""
        self._apply_fault()
        self._send_next(iter(self._partner.opening()))
        answers: deque[Iterator[MockMessage]] = deque()
        while True:
            try:
                message = inbox.get(timeout=delay if answers else None)
            except Empty:
                if not self._send_next(answers[0]):
                    answers.popleft()
                continue
            if message is None:
                return
            answer = self._partner.receive(message)
            if self._send_next(answer):
                answers.append(answer)

    def _send_next(self, answer: Iterator[MockMessage]) -> bool:
        """Send an answer up to its next piece; False if it has ended."""
        for item in answer:
            self._send(item.message)
            if item.piece:
                return True
        return False

    def _send(self, message: Message) -> None:
        if self._silent:
            return
        send = self._endpoint.send_text if message.text else self._endpoint.send_binary
        send(message.data)
        if self._remaining is not None:
            self._remaining -= 1
            self._apply_fault()

    def _apply_fault(self) -> None:
        """Apply the fault, if no message remains before it."""
        if self._fault is None or self._remaining != 0:
            return
        self._remaining = None
        if self._fault.kind == "close":
            raise AbortConnection(AbortReason.RESPONSE_BROKE_OFF, "the mock was asked to close")
        if self._fault.kind == "code":
            raise CloseRequested(self._fault.code)
        if self._fault.kind == "stall":
            self._silent = True
        elif self._fault.kind == "error":
            for item in self._partner.fail():
                self._send(item.message)
