"""The walk over the pages of all accounts, of which one page of a caller is made."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import IO, Any

import orjson

from engine.exchange.exchange import Exchange, Response
from engine.exchange.opened_ids import Holder, OpenedIds
from engine.objects.facts import ListFacts
from engine.objects.marks import marks_in
from engine.objects.pages import (
    MAX_PAGES,
    Position,
    answer,
    cursor_text,
    page_query,
    read_request,
)
from engine.objects.response_ids import ResponseSealer
from engine.process.child_process import ChildFailed
from engine.relay.held_body import HeldBody, write_all
from engine.upstream.objects.list_pages import (
    ROWS,
    PageRows,
    RowReader,
    join_rows,
    receive_page,
    too_long,
    unreadable,
)
from engine.upstream.objects.object_forward import (
    ObjectRoute,
    elsewhere,
    set_targets,
)
from engine.upstream.targets.target import Target
from engine.values.media_types import is_json

log = logging.getLogger("modelway")


class ListWalk:
    """One page of a caller: the walk over the pages of vendors, which `fetch` gets from the
    `targets` of an account."""

    def __init__(
        self,
        objects: ObjectRoute,
        lists: ListFacts,
        exchange: Exchange,
        opened: OpenedIds,
        targets: Mapping[Holder, Sequence[Target]],
        fetch: Callable[[Exchange], Response],
    ) -> None:
        self._objects, self._lists, self._fetch = objects, lists, fetch
        self._exchange, self._opened = exchange, opened
        self._opener = objects.opener
        self._query = exchange.query
        self._request = read_request(self._query, lists, self._opener, opened)
        self._targets = targets
        everybody, batches = objects.owner == "all", objects.batches
        marks = self._opener.sealer.marks(opened.owner, lists.kind)
        self._size = self._request.size if everybody else lists.max
        self._reader = RowReader(
            *(lists, self._size, partial(self._is_own, marks=marks), self._request.backward),
            None if batches is None else batches.look_at_page,
        )
        self._rows: list[bytes | IO[bytes]] = []
        """The JSON of rows, that of large pages in files."""
        self._count = 0
        self._ends: tuple[Any, Any] | None = None
        self._envelope: Mapping[str, Any] | None = None

    def run(self) -> Response:
        """The page, or the vendor's error for one of the pages."""
        holders = self._holders()
        position = Position(holders[0], self._request.start.cursor, self._request.start.skip)
        response, pages, more = None, 0, True
        while True:
            if pages == MAX_PAGES:
                if not self._count and self._lists.cursor == "id":
                    raise too_long(self._lists)
                break
            page = self._page(position)
            pages += 1
            if isinstance(page, Response):
                return page
            response, rows = page
            if rows.rest is not None:  # the page is full
                position = position._replace(skip=rows.rest)
                break
            following = self._following(rows, position, holders)
            if following is None:
                more = False
                break
            position = following
            if self._count >= self._request.size:
                break
        assert response is not None
        return self._answer(response, position, more=more)

    def _holders(self) -> list[Holder]:
        """The accounts from that of the cursor on. A walk backwards stays in its account."""
        holders, start = [*self._targets], self._request.start.holder
        if start is None:
            return holders
        if start not in holders:
            raise elsewhere(start, self._lists.kind, self._exchange)
        index = holders.index(start)
        return [start] if self._request.backward else holders[index:]

    def _page(self, position: Position) -> Response | tuple[Response, PageRows]:
        """A page of a vendor with what was taken of it, or its error. Raises GatewayError 502 for
        rows that cannot be told apart: callers can ask vendors for other forms, such as
        `alt=proto`."""
        exchange, holder, backward = self._exchange, position.holder, self._request.backward
        assert holder is not None
        self._opened.holder = holder
        set_targets(exchange, self._targets[holder])
        exchange.query = page_query(
            self._query, self._lists, position.cursor, self._size, backward=backward
        )
        response = self._fetch(exchange)
        kind = next((value for name, value in response.headers if name == "content-type"), "")
        if response.status >= 400 or response.status == 304:
            return response
        if response.status != 200 or not is_json(kind):
            raise unreadable("it is not the JSON that lists are read from")
        page_body = receive_page(response)
        try:
            rows = self._take(page_body, position.skip)
        except (OSError, ChildFailed) as error:
            log.error("request %s: the process for a page %s", exchange.request_id, error)
            raise unreadable("the gateway could not read it") from error
        finally:
            page_body.close()
        if (batches := self._objects.batches) is not None:
            for row in rows.notable:
                batches.note(row, holder, exchange)
        return response, rows

    def _take(self, page_body: HeldBody, skip: int) -> PageRows:
        """Take the caller's rows of a page: of a large one in another process. Raises GatewayError
        502, OSError and ChildFailed."""
        data: bytes | IO[bytes]
        if page_body.is_large:
            rows, data = page_body.aside(partial(self._write_rows, page_body, skip))
        else:
            file = io.BytesIO()
            rows = self._write_rows(page_body, skip, file)
            data = file.getvalue()
        if isinstance(rows, str):
            raise unreadable(rows)
        if self._envelope is None:
            self._envelope = rows.envelope
        self._count += rows.count
        if rows.ends is not None:
            at = 0 if self._request.backward else len(self._rows)
            self._rows.insert(at, data)
            first, last = self._ends or rows.ends
            backward = self._request.backward
            self._ends = (rows.ends[0], last) if backward else (first, rows.ends[1])
        return rows

    def _write_rows(self, page_body: HeldBody, skip: int, file: IO[bytes]) -> PageRows | str:
        """Write the rows to take of a page; or why it cannot be read."""
        text = page_body.decode()
        if text is None:
            return "its Content-Encoding is not known"
        sealer: ResponseSealer = self._opened.sealer
        try:
            rows, data = self._reader.read(text, sealer, skip, self._request.size - self._count)
        except orjson.JSONDecodeError:
            return "it is not JSON"
        write_all(file, data)
        return rows

    def _following(
        self, page: PageRows, position: Position, holders: Sequence[Holder]
    ) -> Position | None:
        """The position behind a page; None at the end of the last account."""
        if page.more and self._can_tell:
            return Position(position.holder, page.following)
        assert position.holder is not None
        index = holders.index(position.holder) + 1
        return Position(holders[index]) if index < len(holders) else None

    def _answer(self, response: Response, position: Position, *, more: bool) -> Response:
        """The page for the caller, with the headers of the last page of a vendor."""
        lists = self._lists
        cursor = ""
        if lists.cursor == "token" and more:
            cursor = cursor_text(position, lists, self._opener, self._opened.owner)
        rows = [orjson.Fragment(ROWS)]
        page = answer(self._envelope or {}, lists, rows, self._ends, more=more, cursor=cursor)
        stale = ("content-length", "content-encoding", "etag", "link")
        headers = [pair for pair in response.headers if pair[0] not in stale]
        pieces = join_rows(orjson.dumps(page), self._rows)
        is_small = all(isinstance(each, bytes) for each in self._rows)
        body = b"".join(pieces) if is_small else pieces
        return Response(200, headers, body, response.gateway_headers)

    def _is_own(self, row: Any, marks: frozenset[str]) -> bool:
        """Whether a row is the caller's, by the marks that it may have."""
        objects, lists = self._objects, self._lists
        if objects.owner == "all":
            return True
        of_kind = [mark for mark in objects.facts.marks if mark.kind == lists.kind]
        mark = marks_in(row, of_kind, lists.items)
        return objects.opener.passes if mark is None else mark in marks

    @property
    def _can_tell(self) -> bool:
        """Whether rows can be told apart at all."""
        objects, kind = self._objects, self._lists.kind
        has_marks = any(m.shown is not None for m in objects.facts.marks if m.kind == kind)
        return has_marks or objects.owner == "all" or objects.opener.passes
