"""Pages of lists: received from vendors, and put together for a caller, who gets its own rows, with
sealed ids, as JSON.

The rows are a function of the page's text, so that a large page is read in another process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

import orjson
from msgspec import Struct

from engine.exchange.exchange import Response
from engine.objects.facts import ListFacts
from engine.objects.marks import Changes
from engine.objects.pages import MAX_PAGES, VendorPage, without_rows
from engine.objects.response_ids import ResponseSealer
from engine.relay.held_body import HeldBody, file_pieces
from engine.values.errors import GatewayError
from engine.values.trees import member_at, value_at

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


class PageRows(Struct, frozen=True):
    """The rows that a caller gets of a page: how many, and the ids of the first and the last of
    them, None without any. `rest` is the index of the caller's first row that is not among them,
    None if there is no other. `envelope` is the page without rows, `notable` are those of all rows
    that the gateway notes; `more` and `following` are as in VendorPage."""

    count: int
    ends: tuple[Any, Any] | None
    rest: int | None
    envelope: Mapping[str, Any]
    notable: Sequence[dict[str, Any]]
    more: bool
    following: str


class RowReader(Struct, frozen=True):
    """Reads the rows of a caller. `size` are the rows of a page of the vendor's, `is_own` says
    whether one is the caller's. `look` gives the changes of a page and the rows to note, None for
    none."""

    lists: ListFacts
    size: int
    is_own: Callable[[Any], bool]
    backward: bool
    look: Callable[[Any], tuple[Changes, list[dict[str, Any]]]] | None = None

    def read(
        self, text: bytes, sealer: ResponseSealer, skip: int, room: int
    ) -> tuple[PageRows, bytes]:
        """At most `room` rows of a page, from the one at `skip` on or, backward, the last ones; and
        their JSON, joined by commas. Raises ValueError for a text that is not JSON."""
        value = orjson.loads(text)
        page = VendorPage(value, self.lists, self.size, backward=self.backward)
        indexes = [i for i, row in enumerate(page.rows) if i >= skip and self.is_own(row)]
        changes, notable = (Changes(), []) if self.look is None else self.look(value)
        _apply(value, changes | sealer.changes(value, "body"))
        rest = None
        if self.backward:
            rest = 0 if len(indexes) > room else None
            indexes = indexes[max(0, len(indexes) - room) :]
        elif len(indexes) > room:
            indexes, rest = indexes[:room], indexes[room]
        rows = [page.rows[index] for index in indexes]
        ids = [member_at(row, self.lists.id) for row in rows]
        ends = (ids[0], ids[-1]) if ids else None
        envelope = without_rows(value, self.lists)
        result = PageRows(len(rows), ends, rest, envelope, notable, page.more, page.following)
        return result, orjson.dumps(rows)[1:-1]


def _apply(value: Any, changes: Changes) -> None:
    """Make changes in a JSON value, the innermost first: those above them may take them away."""
    for path, text in sorted(changes.items(), key=lambda change: -len(change[0])):
        node = value_at(value, path[:-1])
        if text is None:
            del node[path[-1]]
        else:
            node[path[-1]] = orjson.loads(text)


def too_long(lists: ListFacts) -> GatewayError:
    """The error for a list of whose first MAX_PAGES pages no row is the caller's."""
    message = (
        f"The first {MAX_PAGES} pages of this list have no {lists.kind} of this token. Filter the "
        "list, or ask for objects by their ids."
    )
    return GatewayError(503, "list_too_long", message, retry=False)
