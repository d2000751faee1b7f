"""One request of a socket: it is called from inside through the whole stack of its operation, and
what it answers becomes messages."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import orjson
from gevent import GreenletExit

from engine.dialects import Dialect
from engine.exchange.caller_connection import Answer, InternalCaller, TrySend
from engine.exchange.outcome import CallerLeft, interruption
from engine.objects.response_items import items_of, join_items, output_items, whole_request
from engine.process.loop_turn import await_turn
from engine.sockets.events import EventMessages
from engine.sockets.memory import ResponseMemory
from engine.sockets.messages import (
    Create,
    error_message,
    nested_too_deep,
    own_error,
    response_not_found,
)
from engine.values.errors import AbortConnection, GatewayError
from engine.values.event_json import LONG_EVENT
from engine.values.trees import Json

log = logging.getLogger("modelway")

_MAX_ERROR = 65_536


Call = Callable[[bytes, InternalCaller, TrySend], Answer]
"""Calls the operation with the JSON of a request. What follows the first piece of the answer may be
given to the TrySend, between two pieces of the iteration. Raises AbortConnection."""


class Outlet(Protocol):
    """The way to the client of the socket."""

    def send(self, *messages: bytes) -> None:
        """Send text messages, now or when the client accepts them. Does not wait."""

    def wait(self) -> None:
        """Wait while too much is not accepted. Raises AbortConnection if the client never does."""

    @property
    def is_full(self) -> bool: ...


class Turns:
    """Answers the requests of one socket. `caller` looks its caller up anew, for a request of a
    lane, and raises GatewayError 401 if the token is no longer valid."""

    def __init__(
        self,
        call: Call,
        caller: Callable[[str], InternalCaller],
        dialect: Dialect,
        memory: ResponseMemory,
        outlet: Outlet,
    ) -> None:
        self._call, self._caller, self._dialect = call, caller, dialect
        self._memory, self._outlet = memory, outlet

    def run(self, create: Create) -> None:
        """Answer a request; an error is a message too. Nothing is begun for a client that does not
        read."""
        try:
            if self._outlet.is_full:
                self._outlet.wait()
            caller = self._caller(create.stream_id)
            Turn(self._dialect, self._memory, self._outlet, create).run(self._call, caller)
        except GatewayError as error:
            self._outlet.send(own_error(error, create.stream_id))
        except orjson.JSONEncodeError:
            self._outlet.send(own_error(nested_too_deep(), create.stream_id))
        except AbortConnection as abort:
            log.info("a request over a WebSocket was not begun: %s", abort.strerror)
        except Exception:
            log.exception("a request over a WebSocket failed")
            self._outlet.send(own_error(_failure(), create.stream_id))


class Turn:
    """One request on its way. `before` are the items that it continues, `new` those that it adds:
    None if the upstream knows the former, or if the latter are not valid."""

    def __init__(
        self, dialect: Dialect, memory: ResponseMemory, outlet: Outlet, create: Create
    ) -> None:
        self._memory, self._outlet, self._create = memory, outlet, create
        self._events = EventMessages(dialect, create.stream_id, self._remember)
        self._before: bytes | None = b""
        self._new = create.items
        if self._new is None:
            self._new = items_of(create.request.get("input"))
        if create.previous:
            response = memory.get(create.previous)
            self._before = None if response is None else response.items

    def run(self, call: Call, caller: InternalCaller) -> None:
        """Send the request, and its answer. Raises GatewayError for one that is not sent."""
        create = self._create
        is_stored = create.request.get("store") is not False
        if self._before is None and (not is_stored or not create.generate):
            raise response_not_found(create.previous)
        if not create.generate:
            self._prepare()
            return
        try:
            if len(body := self._body()) > LONG_EVENT:
                await_turn()
            answer = call(body, caller, self._push)
            try:
                if answer.status >= 400:
                    self._fail(answer)
                    return
                for piece in answer:
                    self._send(piece)
                    if self._outlet.is_full:
                        self._outlet.wait()
            finally:
                answer.close()
        except AbortConnection as abort:
            self._break_off(str(abort.strerror))
            return
        except GreenletExit as cause:  # that of an exchange of another process, if it has no error
            if not isinstance(cause, CallerLeft) and not self._events.has_ended:
                self._outlet.send(own_error(interruption(cause).error, create.stream_id))
            raise
        if not self._events.has_ended:
            self._break_off("the answer had no end")

    def _body(self) -> bytes:
        request = self._create.request
        if self._before is None:  # stored by the vendor, or by nobody: the upstream says
            return orjson.dumps({**request, "previous_response_id": self._create.previous})
        if not self._before or self._new is None:
            return orjson.dumps(request)
        return whole_request(request, self._before, self._new)

    def _push(self, piece: bytes) -> bool:
        """Send a piece without waiting; the event loop calls it."""
        self._send(piece)
        return not self._outlet.is_full

    def _send(self, piece: bytes) -> None:
        if messages := [*self._events.feed(piece)]:
            self._outlet.send(*messages)

    def _remember(self, event: Json) -> None:
        """Remember a response at its last event."""
        response = event["response"]
        name, output = response.get("id"), response.get("output")
        if self._before is None or self._new is None or not isinstance(name, str):
            return
        if event.get("type") == "response.failed" or not isinstance(output, list):
            self._forget_previous()
            return
        items = join_items(self._before, self._new, output_items(output))
        self._memory.add(name, items, self._create.stream_id)

    def _forget_previous(self) -> None:
        """A request that fails takes the response that it continues with it, in its lane."""
        response = self._memory.get(self._create.previous)
        if response is not None and response.stream_id == self._create.stream_id:
            self._memory.forget(self._create.previous)

    def _fail(self, answer: Answer) -> None:
        """Send the error of a response that is not a stream."""
        data = bytearray()
        for piece in answer:
            data += piece
            if len(data) > _MAX_ERROR:
                break
        error = _error_in(bytes(data), answer.status)
        if self._before is None and error.get("param") == "previous_response_id":
            error["code"] = "previous_response_not_found"
        self._forget_previous()
        wait = {name: value for name, value in answer.headers if name.lower() == "retry-after"}
        self._outlet.send(error_message(answer.status, error, self._create.stream_id, wait))

    def _break_off(self, reason: str) -> None:
        """Send an error if the answer has broken off without one."""
        if self._events.has_ended:
            return
        self._events.has_ended = True
        self._forget_previous()
        message = f"The response broke off: {reason}."
        self._outlet.send(
            own_error(GatewayError(502, "upstream_error", message), self._create.stream_id)
        )

    def _prepare(self) -> None:
        """Answer a request that only prepares the next one: no upstream is asked, nothing is used.
        Codex sends one as soon as it has connected."""
        name, request = f"resp_{secrets.token_hex(24)}", self._create.request
        if self._new is not None and self._before is not None:
            items = join_items(self._before, self._new)
            self._memory.add(name, items, self._create.stream_id)
        response = _empty_response(name, request)
        for number, (kind, status) in enumerate(
            (("response.created", "in_progress"), ("response.completed", "completed"))
        ):
            usage = _NO_USAGE if status == "completed" else None
            document = response | {"status": status, "usage": usage}
            event = {"type": kind, "sequence_number": number, "response": document}
            if self._create.stream_id:
                event["stream_id"] = self._create.stream_id
            self._outlet.send(orjson.dumps(event))


_NO_USAGE: Mapping[str, Any] = {
    "input_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 0,
}


def _failure() -> GatewayError:
    """A bug: a client without an answer would wait for ever."""
    return GatewayError(500, "internal_error", "The gateway failed on this request.")


def _empty_response(name: str, request: Json) -> Json:
    """A response without output, to a request that makes none."""
    return {
        "id": name,
        "object": "response",
        "created_at": int(time.time()),
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "metadata": request.get("metadata") or {},
        "model": request.get("model"),
        "output": [],
        "parallel_tool_calls": request.get("parallel_tool_calls", True),
        "temperature": request.get("temperature"),
        "tool_choice": request.get("tool_choice", "auto"),
        "tools": request.get("tools") or [],
        "top_p": request.get("top_p"),
    }


def _error_in(data: bytes, status: int) -> Json:
    """The error of a response, as it stands in a message."""
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        document = None
    error = document.get("error") if isinstance(document, dict) else None
    if isinstance(error, dict):
        return {"type": "server_error", "code": None, "message": "", "param": None, **error}
    message = f"The upstream answered with status {status}."
    return {"type": "server_error", "code": "upstream_error", "message": message, "param": None}
