"""Small requests of the gateway's own, which are no caller's: PostClient posts spans to a collector
and events to a webhook; fetch_document fetches the keys of an issuer and the tokens of a sign-in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit, urlunsplit

from engine.upstream.client.address import origin_of
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import read_whole
from engine.upstream.targets import retry
from engine.values.upstream_request import PostResult

_MAX_RESPONSE = 65_536
_HEADERS = (("accept", "application/json"), ("accept-encoding", "identity"))


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


class FetchFailed(Exception):
    """A document cannot be fetched; `str` is the reason."""


def fetch_document(url: str, *, seconds: float, max_size: int) -> bytes:
    """The body of a GET, of at most `max_size` bytes; redirects are not followed. Raises
    FetchFailed."""
    status, body = exchange_documents("GET", url, seconds=seconds, max_size=max_size)
    if status != 200:
        raise FetchFailed(f"{url} answered with status {status}")
    return body


def exchange_documents(
    method: str,
    url: str,
    headers: Sequence[tuple[str, str]] = (),
    body: bytes = b"",
    *,
    seconds: float,
    max_size: int,
) -> tuple[int, bytes]:
    """The status and the body of the answer to a request, of at most `max_size` bytes; redirects
    are not followed. Raises FetchFailed."""
    timeouts = Timeouts(connect=seconds, first_byte=seconds, idle=seconds, total=seconds)
    try:
        parts = urlsplit(url)
        origin = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        client = Client(origin, timeouts=timeouts, pool_size=1)
    except ValueError as error:
        raise FetchFailed(f"{url}: {error}") from error
    target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    try:
        response = client.send(method, target, [*_HEADERS, *headers], body)
        received = read_whole(response, max_size)
    except UpstreamFailure as failure:
        raise FetchFailed(f"{url}: {failure.message.replace('upstream', 'server')}") from failure
    finally:
        client.close()
    if received is None:
        raise FetchFailed(f"{url} answered with more than {max_size} bytes")
    return response.status, received
