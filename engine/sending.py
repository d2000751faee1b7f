"""A response on its way out through Falcon, and the end of its exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import falcon

from engine.exchange import Exchange, Response


def send(
    resp: falcon.Response,
    exchange: Exchange,
    response: Response,
    after: Sequence[Callable[[], None]] = (),
) -> None:
    """Give Falcon a response to send. `after` runs when the answer is out, or was given up."""
    resp.status = response.status
    length = -1
    for name, value in response.headers:
        resp.append_header(name, value)
        if name == "content-length":
            length = int(value)
    for name in exchange.dialect.request_id_headers:
        resp.set_header(name, exchange.request_id)
    body = response.body
    if isinstance(body, bytes):
        length = exchange.account.bytes_out = len(body)
        resp.set_header("content-length", str(length))
        body = (body,)
    resp.stream = sending = _Sending(iter(body), exchange, length, after)
    if exchange.method == "HEAD" or response.status in (204, 304):
        sending.close()  # Falcon sends no body then, and never closes one


class _Sending:
    """A response's body on its way out, of `length` bytes (-1: unknown).

    The exchange ends before the last byte leaves: whoever has the whole answer is in the ledger,
    even when this worker is killed now, and what was taken for the request is given back. Closing
    it ends what did not get so far, and runs `after`.
    """

    def __init__(
        self,
        body: Iterator[bytes],
        exchange: Exchange,
        length: int,
        after: Sequence[Callable[[], None]],
    ) -> None:
        self._body = body
        self._exchange = exchange
        self._left = length
        self._after = after

    def __iter__(self) -> Iterator[bytes]:
        left = self._left
        for data in self._body:
            left -= len(data)
            if left == 0:
                data += b"".join(self._body)  # nothing, but only now it knows that it is over
                self._exchange.end()
            yield data
        self._exchange.end()

    def close(self) -> None:
        self._exchange.end()
        for each in self._after:
            each()
