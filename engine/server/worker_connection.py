"""The caller's connection under the gateway's own worker."""

from __future__ import annotations

from typing import Any

from gunicorn.http.body import Body

from engine.exchange.caller_connection import InvalidFraming, TrySend
from engine.server.gunicorn_connection import _INVALID_FRAMING, linger
from engine.server.outgoing import Outgoing
from engine.server.received import AwaitedReader


class WorkerConnection:
    """The connection under one request."""

    can_take_over = True

    def __init__(self, req: Any, sock: Any, out: Outgoing, awaited: bool) -> None:
        self._sock = sock
        self._out = out
        self._plain = req.body
        self._body = Body(AwaitedReader(req.body, sock)) if awaited else req.body
        self._unreader = req.unreader

    @property
    def is_body_buffered(self) -> bool:
        return getattr(self._body, "arrived", False)

    @property
    def try_send(self) -> TrySend | None:
        return self._out.try_send

    def read(self, size: int, /) -> bytes:
        try:
            data: bytes = self._body.read(size)
        except _INVALID_FRAMING as error:
            raise InvalidFraming(str(error)) from error
        return data

    def take_over(self) -> tuple[Any, bytes]:
        return self._sock, self._unreader.take_buffered()

    def fileno(self) -> int:
        return int(self._sock.fileno())

    def set_timeout(self, seconds: float | None) -> None:
        self._sock.settimeout(seconds)

    def close_after(self) -> bool:
        self._out.force_close()
        return True

    def linger(self) -> None:
        linger(self._sock)
