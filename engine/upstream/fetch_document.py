"""Fetches a small document from a URL: the keys of an issuer, the tokens of a sign-in."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import read_whole

_HEADERS = (("accept", "application/json"), ("accept-encoding", "identity"))


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
