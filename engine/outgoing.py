"""An answer on its way out over the wire: gunicorn's, but its head goes with the first bytes."""

from __future__ import annotations

import time
from functools import lru_cache

from gunicorn import util
from gunicorn.http.wsgi import Response


class Outgoing(Response):  # type: ignore[misc]
    """gunicorn's response to a request, which sends less often."""

    def write(self, arg: bytes) -> None:
        """Send a piece of the body, and what stands before it."""
        length = self.response_length
        if length is not None:
            arg = arg[: length - self.sent]  # never more than was announced
        if self._omits_body or (not arg and self.headers_sent):
            return
        self.sent += len(arg)
        if self.chunked and arg:
            arg = b"%x\r\n%b\r\n" % (len(arg), arg)
        if not self.headers_sent:
            arg = self._head() + arg
        self.sock.sendall(arg)

    def close(self) -> None:
        """Send what ends the answer."""
        end = b"0\r\n\r\n" if self.chunked else b""
        if not self.headers_sent:
            end = self._head() + end
        if end:
            self.sock.sendall(end)

    def _head(self) -> bytes:
        self.headers_sent = True
        lines = [f"{name}: {value}\r\n" for name, value in self.headers]
        return "".join([*self.default_headers(), *lines, "\r\n"]).encode("latin-1")

    def default_headers(self) -> list[str]:
        connection = "close" if self.should_close() else "keep-alive"
        lines = [
            f"HTTP/{self.req.version[0]}.{self.req.version[1]} {self.status}\r\n",
            f"Date: {_date(int(time.time()))}\r\n",
            f"Connection: {'upgrade' if self.upgrade else connection}\r\n",
        ]
        if self.chunked:
            lines.append("Transfer-Encoding: chunked\r\n")
        return lines


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return str(util.http_date(second))
