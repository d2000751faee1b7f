"""gunicorn's gevent worker, with refusals at the door as error objects instead of HTML pages.

`gunicorn -k gevent` works as well; only what is no valid HTTP request is answered differently.
"""

from __future__ import annotations

from typing import Any

import orjson
from gunicorn.http import errors
from gunicorn.workers.ggevent import GeventWorker

_STATUS = (
    (errors.LimitRequestLine, 414, "URI Too Long"),
    (errors.LimitRequestHeaders, 431, "Request Header Fields Too Large"),
    (errors.ExpectationFailed, 417, "Expectation Failed"),
    (errors.UnsupportedTransferCoding, 501, "Not Implemented"),
    (errors.ParseException, 400, "Bad Request"),
)


class Worker(GeventWorker):  # type: ignore[misc]
    """The worker that `modelway serve` runs."""

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Answer what is no valid HTTP request; anything else is gunicorn's business."""
        if not isinstance(exc, errors.ParseException):
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("not a valid HTTP request: %s", type(exc).__name__)
        status, reason = next((s, r) for kind, s, r in _STATUS if isinstance(exc, kind))
        error = {
            "message": f"The request is not valid HTTP/1.1 ({reason}).",
            "type": "invalid_request_error",
            "param": "",
            "code": "bad_request",
        }
        body = orjson.dumps({"error": error})
        head = (
            f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        try:
            client.sendall(head.encode() + body)
        except OSError as error_on_the_way:
            self.log.debug("the caller had left: %s", error_on_the_way)
