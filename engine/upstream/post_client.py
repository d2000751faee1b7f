"""A client that posts small bodies to one URL: spans to a collector, events to a webhook."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from engine.upstream.client.address import origin_of
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.targets import retry
from engine.values.upstream_request import PostResult

_MAX_RESPONSE = 65_536


class PostClient:
    """Posts bodies to `url` (http, https or http+unix, with a query or without) with `headers`,
    each within `seconds`. ValueError for an invalid URL."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        seconds: float = 10.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        timeouts = Timeouts(connect=seconds, first_byte=seconds, idle=seconds, total=seconds)
        base, query = split_query(url)
        self._client = Client(base, timeouts=timeouts, pool_size=1)
        self._target = (self._client.base_path or "/") + query
        self._headers = list(headers.items())
        self._clock = clock

    def __call__(self, body: bytes, headers: Sequence[tuple[str, str]] = ()) -> PostResult:
        """Send a body, with further `headers`, and wait for the response. A failure is a result,
        not an exception."""
        try:
            all_headers = [*self._headers, *headers]
            response = self._client.send("POST", self._target, all_headers, body)
        except UpstreamFailure as failure:
            return PostResult(0, _words(failure))
        try:
            received = b""
            while (data := response.read()) and len(received) < _MAX_RESPONSE:
                received += data
        except UpstreamFailure as failure:
            return PostResult(0, _words(failure))
        finally:
            response.close()
        retry_after = retry.retry_delay(None, response.header("retry-after"), self._clock())
        return PostResult(response.status, "", retry_after, received)

    def close(self) -> None:
        """Close its connection."""
        self._client.close()


def split_query(url: str) -> tuple[str, str]:
    """A URL without its query, and the query with its question mark, "" for none. ValueError for an
    invalid URL; the message does not show it."""
    base, mark, query = url.partition("?")
    origin_of(base)
    if not query.isascii() or not query.isprintable() or " " in query or "#" in query:
        raise ValueError("the query of the URL has a character that must be percent-encoded")
    return base, mark + query


def _words(failure: UpstreamFailure) -> str:
    """The words of a failure, for a server that is not an upstream."""
    return failure.words.replace("upstream", "server")
