"""Lists of objects: a caller sees its own. The pages of all accounts are read for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import orjson

from engine.exchange.exchange import Exchange, Response
from engine.exchange.opened_ids import Holder, OpenedIds
from engine.objects.facts import ListFacts
from engine.objects.marks import marks_in
from engine.objects.pages import (
    MAX_PAGES,
    Position,
    VendorPage,
    answer,
    at,
    cursor_text,
    page_query,
    read_request,
)
from engine.objects.response_ids import ResponseSealer
from engine.upstream.attempt_result import AttemptResult
from engine.upstream.forward import Forward
from engine.upstream.object_forward import (
    ObjectForward,
    elsewhere,
    set_targets,
    with_credential,
)
from engine.upstream.target import Target
from engine.values.content_coding import decode_body
from engine.values.errors import GatewayError
from engine.values.json_edit import apply_edits, edits
from engine.values.media_types import is_json

MAX_PAGE = 32_000_000
"""Bytes of a page of a vendor."""


class ListForward(ObjectForward):
    """The last handler of a list. Its pages are those of vendors without what is not the caller's,
    filled up from MAX_PAGES of them. Raises GatewayError 503 if the caller has nothing in so many,
    as no cursor could go on from there."""

    def __call__(self, exchange: Exchange) -> Response:
        opened, lists = exchange.objects, self.objects.facts.lists
        if opened is None or lists is None:
            return super().__call__(exchange)
        query = exchange.query
        walk = _Walk(self, lists, exchange, opened)
        try:
            return walk.run()
        finally:
            exchange.query = query

    def fetch(self, exchange: Exchange) -> Response:
        """A page of the vendor as it is."""
        return Forward.__call__(self, exchange)

    def _respond(self, last: AttemptResult, exchange: Exchange, deadline: float) -> Response:
        assert exchange.objects is not None
        exchange.objects.sealer = self.response_sealer(last, exchange, exchange.objects)
        return Forward._respond(self, last, exchange, deadline)

    def is_own(self, row: Any, marks: frozenset[str]) -> bool:
        """Whether a row is the caller's, by the marks that it may have."""
        objects, lists = self.objects, self.objects.facts.lists
        if objects.owner == "all" or lists is None:
            return True
        of_kind = [mark for mark in objects.facts.marks if mark.kind == lists.kind]
        mark = marks_in(row, of_kind, lists.items)
        return objects.opener.passes if mark is None else mark in marks

    @property
    def can_tell(self) -> bool:
        """Whether rows can be told apart at all."""
        objects, lists = self.objects, self.objects.facts.lists
        marks = objects.facts.marks
        has_marks = any(m.shown is not None for m in marks if lists and m.kind == lists.kind)
        return has_marks or objects.owner == "all" or objects.opener.passes


class _Walk:
    """One page of a caller: the walk over pages of vendors."""

    def __init__(
        self, forward: ListForward, lists: ListFacts, exchange: Exchange, opened: OpenedIds
    ) -> None:
        self._forward, self._lists = forward, lists
        self._exchange, self._opened = exchange, opened
        self._opener = forward.objects.opener
        self._query = exchange.query
        self._request = read_request(self._query, lists, self._opener, opened)
        self._targets = _by_holder(forward.all_targets(exchange))
        self._marks = self._opener.sealer.marks(opened.owner, lists.kind)
        everybody = forward.objects.owner == "all"
        self._size = self._request.size if everybody else lists.max
        self._rows: list[Any] = []
        self._envelope: dict[str, Any] | None = None

    def run(self) -> Response:
        """The page, or the vendor's error for one of the pages."""
        holders = self._holders()
        position = Position(holders[0], self._request.start.cursor, self._request.start.skip)
        response, pages, more = None, 0, True
        while True:
            if pages == MAX_PAGES:
                if not self._rows and self._lists.cursor == "id":
                    raise _too_long(self._lists)
                break
            page = self._page(position)
            pages += 1
            if isinstance(page, Response):
                return page
            response, vendor_page, text = page
            rest = self._take(vendor_page, text, position.skip)
            if rest is not None:  # the page is full
                position = position._replace(skip=rest)
                break
            following = self._following(vendor_page, position, holders)
            if following is None:
                more = False
                break
            position = following
            if len(self._rows) >= self._request.size:
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

    def _page(self, position: Position) -> Response | tuple[Response, VendorPage, bytes]:
        """A page of a vendor with its text, or its error. Raises GatewayError 502 for rows that
        cannot be told apart: callers can ask vendors for other forms, such as `alt=proto`."""
        exchange, holder, backward = self._exchange, position.holder, self._request.backward
        assert holder is not None
        self._opened.holder = holder
        set_targets(exchange, self._targets[holder])
        exchange.query = page_query(
            self._query, self._lists, position.cursor, self._size, backward=backward
        )
        response = self._forward.fetch(exchange)
        kind = next((value for name, value in response.headers if name == "content-type"), "")
        if response.status >= 400 or response.status == 304:
            return response
        if response.status != 200 or not is_json(kind):
            raise _unreadable("it is not the JSON that lists are read from")
        text = _text(response)
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise _unreadable("it is not JSON") from error
        return response, VendorPage(value, self._lists, self._size, backward=backward), text

    def _take(self, page: VendorPage, text: bytes, skip: int) -> int | None:
        """Take the caller's rows of a page. Returns the index of the first that is not taken
        because the caller's page is full; None if all were looked at."""
        sealer: ResponseSealer = self._opened.sealer
        changes = sealer.changes(page.value, "body")
        sealed = orjson.loads(apply_edits(text, edits(text, changes)) if changes else text)
        if self._envelope is None:
            self._envelope = sealed if isinstance(sealed, dict) else {}
        rows = at(sealed, self._lists.items) or []
        own = [i for i, row in enumerate(page.rows) if i >= skip and self._is_own(row)]
        if self._request.backward:
            size = self._request.size
            all_rows = [*(rows[index] for index in own), *self._rows]
            self._rows = all_rows[-size:]
            return 0 if len(all_rows) > size else None
        for index in own:
            if len(self._rows) == self._request.size:
                return index
            self._rows.append(rows[index])
        return None

    def _is_own(self, row: Any) -> bool:
        return self._forward.is_own(row, self._marks)

    def _following(
        self, page: VendorPage, position: Position, holders: Sequence[Holder]
    ) -> Position | None:
        """The position behind a page; None at the end of the last account."""
        if page.more and self._forward.can_tell:
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
        page = answer(self._envelope or {}, lists, self._rows, more=more, cursor=cursor)
        stale = ("content-length", "content-encoding", "etag", "link")
        headers = [pair for pair in response.headers if pair[0] not in stale]
        return Response(200, headers, orjson.dumps(page), response.gateway_headers)


def _by_holder(targets: Iterable[Target]) -> dict[Holder, list[Target]]:
    """The targets of each account. Accounts are in the same order for each request, because a
    walk goes on from a cursor."""
    found: dict[Holder, list[Target]] = {}
    for target in targets:
        for index in range(max(len(target.upstream.credentials), 1)):
            found.setdefault(Holder(target.upstream.name, index), []).append(target)
    return {
        holder: [_at(target, holder.credential) for target in of_upstream]
        for holder, of_upstream in sorted(found.items(), key=lambda item: item[0])
    }


def _at(target: Target, credential: int) -> Target:
    upstream = with_credential(target.upstream, credential)
    return target if upstream is target.upstream else replace(target, upstream=upstream)


def _text(response: Response) -> bytes:
    """The body of a page, decoded. Raises GatewayError 502."""
    pieces = [response.body] if isinstance(response.body, bytes) else response.body
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) > MAX_PAGE:
            raise _unreadable(f"it has more than {MAX_PAGE} bytes")
    coding = next((value for name, value in response.headers if name == "content-encoding"), "")
    text = decode_body(coding, bytes(data))
    if text is None:
        raise _unreadable("its Content-Encoding is not known")
    return text


def _unreadable(reason: str) -> GatewayError:
    message = f"The upstream's list cannot be read: {reason}."
    return GatewayError(502, "upstream_error", message)


def _too_long(lists: ListFacts) -> GatewayError:
    message = (
        f"The first {MAX_PAGES} pages of this list have no {lists.kind} of this token. Filter the "
        "list, or ask for objects by their ids."
    )
    return GatewayError(503, "list_too_long", message, retry=False)
