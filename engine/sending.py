"""A response on its way out through Falcon, and the end of its exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

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
    headers = [pair for pair in response.headers if pair[0] != "content-length"]
    if len(headers) < len(response.headers):
        length = int(next(value for name, value in response.headers if name == "content-length"))
    headers += [(name, exchange.request_id) for name in exchange.dialect.request_id_headers]
    body = response.body
    if isinstance(body, bytes):
        length = exchange.account.bytes_out = len(body)
        body = (body,)
    if length >= 0:
        headers.append(("content-length", str(length)))
    names = {name for name, _ in headers}
    if len(names) == len(headers) and "set-cookie" not in names:
        resp.set_headers(headers)
    else:
        for name, value in headers:
            resp.append_header(name, value)
    resp.stream = sending = _Sending(body, exchange, length, after)
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
        body: Iterable[bytes],
        exchange: Exchange,
        length: int,
        after: Sequence[Callable[[], None]],
    ) -> None:
        self._body = body
        self._exchange = exchange
        self._left = length
        self._after = after

    def __iter__(self) -> Iterator[bytes]:
        if self._left < 0:
            return chain(self._body, _ending(self._exchange))
        return self._counted(iter(self._body), self._left)

    def _counted(self, body: Iterator[bytes], left: int) -> Iterator[bytes]:
        for data in body:
            left -= len(data)
            if left == 0:
                data += b"".join(body)  # nothing, but only now it knows that it is over
                self._exchange.end()
            yield data
        self._exchange.end()

    def close(self) -> None:
        self._exchange.end()
        for each in self._after:
            each()


def _ending(exchange: Exchange) -> Iterator[bytes]:
    """No more bytes, and the end of the exchange."""
    exchange.end()
    yield from ()
