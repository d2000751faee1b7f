"""The answer of another MCP server to a request: one JSON text, or a stream of server-sent events
that has it among notifications.

`ReplyReader` takes the bytes as they arrive, so that a stream is left as soon as it has the answer.
What a server asks of its client (sampling, elicitation, roots) ends the request: a gateway has no
model, user or files of the caller to offer, and said so in its capabilities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from engine.mcp.protocol.json_rpc import ProtocolError, check_depth
from engine.mcp.protocol.streamed_result import event_data
from engine.process.loop_turn import FEW_BYTES, pacer
from engine.process.preemption import PREEMPTION

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_MAX_TEXT = 500
_MAX_DATA = 4_000


class RemoteError(Exception):
    """A server did not answer as it should, or with an error; `str` says so. `code` is that of its
    JSON-RPC error, 0 without one; `data` the beginning of what that says besides, as JSON, for the
    caller alone."""

    def __init__(self, message: str, code: int = 0, data: str = "") -> None:
        super().__init__(message)
        self.code, self.data = code, data


class ReplyReader:
    """Reads the answer to the request of this id, of at most `most` bytes in all."""

    def __init__(self, message_id: int, media_type: str, most: int) -> None:
        self._id, self._most = message_id, most
        self._is_stream = media_type == "text/event-stream"
        self._buffer, self._size, self._search_start = bytearray(), 0, 0
        self._answer: Mapping[str, Any] | None = None

    def feed(self, data: bytes) -> bool:
        """Take the next bytes. Returns whether that is all. Raises RemoteError for more than
        `most` bytes, and for a request of the server."""
        self._size += len(data)
        if self._size > self._most:
            raise RemoteError(f"The server's answer has more than {self._most} bytes.")
        self._buffer += data
        if self._is_stream:
            self._read_events(pacer())
        return self._answer is not None

    def result(self) -> Mapping[str, Any]:
        """The result, at the end of the answer. Raises RemoteError."""
        if self._is_stream and self._answer is None:
            self._buffer += b"\n\n"
            self._read_events(pacer())
        elif not self._is_stream:
            self._take(bytes(self._buffer), pacer())
        if self._answer is None:
            raise RemoteError("The server's answer has no result for this request.")
        error = self._answer.get("error")
        if error is not None:
            raise _error_of(error)
        result = self._answer.get("result")
        if not isinstance(result, dict):
            raise RemoteError("The server's result is not a JSON object.")
        return result

    def _read_events(self, pace: Callable[[], None]) -> None:
        while self._answer is None:
            match = _END.search(self._buffer, max(0, self._search_start - 3))
            if match is None:
                self._search_start = len(self._buffer)
                return
            event = bytes(self._buffer[: match.end()])
            del self._buffer[: match.end()]
            self._search_start = 0
            pace()
            for data in event_data(event):
                self._take(data, pace)

    def _take(self, data: bytes, pace: Callable[[], None]) -> None:
        """One message: the answer, or something else, which is left alone."""
        try:
            message = orjson.loads(data)
            pace()
            if len(data) > FEW_BYTES:  # to walk through thousands of tools takes milliseconds
                PREEMPTION.begin()
            check_depth(data, message)
        except (orjson.JSONDecodeError, ProtocolError) as error:
            if self._is_stream:
                return  # a stream may have others
            raise RemoteError(f"The server's answer is not JSON of MCP: {error}") from error
        finally:
            PREEMPTION.end()
        if not isinstance(message, dict):
            return
        if isinstance(method := message.get("method"), str):
            if "id" in message and method != "ping":
                name = method[:64]
                text = (
                    f"The server asks its client for '{name}', which the gateway does not pass on."
                )
                raise RemoteError(text)
            return
        is_answer = message.get("id") == self._id and type(message.get("id")) is int
        if is_answer or (message.get("id") is None and "error" in message):
            self._answer = message


def _error_of(error: object) -> RemoteError:
    if not isinstance(error, dict):
        return RemoteError("The server answered with an error.")
    code, message, data = error.get("code"), error.get("message"), error.get("data")
    text = message[:_MAX_TEXT] if isinstance(message, str) else "without a message"
    number = code if type(code) is int else 0
    more = "" if data is None else orjson.dumps(data)[:_MAX_DATA].decode("utf-8", "ignore")
    return RemoteError(f"The server answered with error {number}: {text}", number, more)
