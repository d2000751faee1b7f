"""The client of other MCP servers: which messages are sent to one, and what its answers say.

A server of 2026-07-28 needs no session, and gets one message a request. An older one gets
`initialize` first, and its session id with every message after that. `Send` sends a message; how,
and as whom, is not known here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import orjson
from msgspec import Struct

from engine.mcp.protocol.revisions import LEGACY, META, MODERN
from engine.mcp.remote.replies import RemoteError

MAX_LIST = 4_000_000
"""Bytes of a page of a list, and of the answers that begin a session."""
MAX_PAGES = 20
MAX_TOOLS = 1_000
_OLDEST = "2024-11-05"
_MAX_SESSION_ID = 1_024
_SERVER_ERROR = 500


class SessionEnded(RemoteError):
    """A server does not know the session any more: begin another."""


class RemoteMessage(Struct, frozen=True):
    """A message to a server. `id` is None for a notification, whose answer has no body; `most` are
    the bytes that an answer may have."""

    method: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    id: int | None
    most: int = MAX_LIST


class RemoteAnswer(Struct, frozen=True):
    """The answer to a message: the HTTP status, and the result of a status of 2xx with one. `error`
    says why there is none. `session` is the id of the session that it begins, "" for none."""

    status: int
    result: Mapping[str, Any] | None = None
    error: RemoteError | None = None
    session: str = ""


Send = Callable[[RemoteMessage], RemoteAnswer]
"""Sends a message. Raises what a server that cannot be reached raises."""


class RemoteSession(Struct, frozen=True):
    """How a server is spoken to: the revision, and the id of the session, "" for none."""

    revision: str
    id: str = ""

    @property
    def is_modern(self) -> bool:
        return self.revision == MODERN


class RemoteClient:
    """Writes the messages of one gateway, whose `name` and `version` servers see."""

    modern = RemoteSession(MODERN)
    """That of every server of 2026-07-28."""

    def __init__(self, name: str, version: str) -> None:
        self._info = {"name": name, "version": version}
        self._ids = count(1)

    def open(self, send: Send, *, is_modern: bool | None = None) -> RemoteSession:
        """A session with a server, by 2026-07-28 if it speaks that; `is_modern` says what is known
        of it. Raises RemoteError."""
        if is_modern is not False:
            answer = send(self.message(self.modern, "server/discover", {}))
            versions = (answer.result or {}).get("supportedVersions")
            if isinstance(versions, list) and MODERN in versions:
                return self.modern
            if answer.status >= _SERVER_ERROR or answer.status in (401, 403, 429):
                raise _failure(answer)
        return self._initialized(send)

    def _initialized(self, send: Send) -> RemoteSession:
        params = {"protocolVersion": LEGACY[0], "capabilities": {}, "clientInfo": self._info}
        answer = send(self.message(RemoteSession(""), "initialize", params))
        if answer.result is None:
            raise _failure(answer)
        revision, session_id = answer.result.get("protocolVersion"), answer.session
        if revision not in (*LEGACY, _OLDEST):
            raise RemoteError("The server speaks no revision of MCP that is known here.")
        if len(session_id) > _MAX_SESSION_ID or not (session_id + "x").isprintable():
            raise RemoteError("The server's session id is too long, or not printable.")
        session = RemoteSession(revision, session_id)
        send(self.message(session, "notifications/initialized", {}, is_notification=True))
        return session

    def tools(self, session: RemoteSession, send: Send) -> Iterator[Mapping[str, Any]]:
        """The pages of the list of a server's tools, as it answers. Raises RemoteError."""
        cursor, cursors = "", set[str]()
        for _ in range(MAX_PAGES):
            params = {"cursor": cursor} if cursor else {}
            answer = send(self.message(session, "tools/list", params))
            yield self.result_of(session, answer)
            following = (answer.result or {}).get("nextCursor")
            if not isinstance(following, str) or not following or following in cursors:
                return
            cursors.add(following)
            cursor = following

    def call(
        self, session: RemoteSession, tool: str, arguments: object, most: int
    ) -> RemoteMessage:
        """The message that calls a tool."""
        params = {"name": tool, "arguments": arguments}
        return self.message(session, "tools/call", params, name=tool, most=most)

    def result_of(self, session: RemoteSession, answer: RemoteAnswer) -> Mapping[str, Any]:
        """The result of an answer. Raises RemoteError, SessionEnded if another session may help."""
        if answer.result is not None:
            return answer.result
        if session.id and answer.status == 404:
            raise SessionEnded("The server has ended the session.")
        raise _failure(answer)

    def message(
        self,
        session: RemoteSession,
        method: str,
        params: Mapping[str, Any],
        *,
        name: str = "",
        most: int = MAX_LIST,
        is_notification: bool = False,
    ) -> RemoteMessage:
        """A message of a session, with the headers of its revision."""
        headers = [
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
        ]
        if session.revision:
            headers.append(("mcp-protocol-version", session.revision))
        if session.is_modern:
            params = {**params, "_meta": self._meta()}
            headers.append(("mcp-method", method))
            if name:
                headers.append(("mcp-name", _header_text(name)))
        elif session.id:
            headers.append(("mcp-session-id", session.id))
        document: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        message_id = None if is_notification else next(self._ids)
        if message_id is not None:
            document["id"] = message_id
        return RemoteMessage(method, headers, orjson.dumps(document), message_id, most)

    def _meta(self) -> dict[str, Any]:
        return {
            f"{META}protocolVersion": MODERN,
            f"{META}clientCapabilities": {},
            f"{META}clientInfo": self._info,
        }


def _failure(answer: RemoteAnswer) -> RemoteError:
    if answer.error is not None:
        return answer.error
    return RemoteError(f"The server answered with HTTP status {answer.status}.")


def _header_text(name: str) -> str:
    """A name as the value of a header (specification 2026-07-28, transports/streamable-http)."""
    if name.isascii() and name.isprintable() and name == name.strip() and name[:2] != "=?":
        return name
    return f"=?base64?{base64.b64encode(name.encode()).decode()}?="
