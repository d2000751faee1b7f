"""Pages of lists: received from vendors, and put together for a caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO

from engine.exchange.exchange import Response
from engine.relay.held_body import HeldBody, file_pieces
from engine.values.errors import GatewayError

ROWS = b"\0"
"""Stands for the rows in the JSON of a page, in which no other byte is like it."""

MAX_PAGE = 32_000_000
"""Bytes of a page of a vendor."""


def join_rows(page: bytes, rows: Sequence[bytes | IO[bytes]]) -> Iterator[bytes]:
    """A page with the JSON of its rows, in pieces."""
    before, _, behind = page.partition(ROWS)
    yield before
    for number, each in enumerate(rows):
        if number:
            yield b","
        if isinstance(each, bytes):
            yield each
        else:
            yield from file_pieces(each)
    yield behind


def receive_page(response: Response) -> HeldBody:
    """The body of a page. Raises GatewayError 502."""
    coding = next((value for name, value in response.headers if name == "content-encoding"), "")
    page_body = HeldBody(coding)
    try:
        for piece in [response.body] if isinstance(response.body, bytes) else response.body:
            page_body.add(piece)
            if page_body.size > MAX_PAGE:
                raise unreadable(f"it has more than {MAX_PAGE} bytes")
    except BaseException:
        page_body.close()
        raise
    return page_body


def unreadable(reason: str) -> GatewayError:
    message = f"The upstream's list cannot be read: {reason}."
    return GatewayError(502, "upstream_error", message)
