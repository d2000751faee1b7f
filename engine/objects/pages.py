"""The pages of a list: what a caller asks for, what a vendor's page has, and the page to answer.

A vendor's page has the objects of all callers of an account. So the gateway reads page after page,
of one account after another, keeps the rows of the caller, and stops when its page is full. A
position in this walk is a cursor: the id of a row (`cursor: id`), or for vendors with cursors of
their own a sealed text of the account, the vendor's cursor and the rows of that page to skip.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from engine.exchange.opened_ids import Holder, OpenedIds
from engine.objects.facts import ListFacts
from engine.objects.id_opener import IdOpener, not_found
from engine.objects.sealed_ids import Identity, TooLong
from engine.spec.parameters.query_string import Query
from engine.values.errors import GatewayError
from engine.values.trees import member_at

MAX_PAGES = 20
"""Pages of vendors that are read for one page of a caller."""

_CURSOR = "cursor_of_"
_DIGITS = 9
"""Digits of a size that are read: Python refuses numbers of thousands of them."""


class Position(NamedTuple):
    """Where a walk is: the account, the vendor's cursor there ("" for its first page), and the rows
    of the page to skip."""

    holder: Holder | None = None
    cursor: str = ""
    skip: int = 0


class PageRequest(Struct, frozen=True):
    """What a caller asks for: `size` rows behind a position, or with `backward` before it."""

    size: int
    start: Position
    backward: bool = False


def read_request(query: str, lists: ListFacts, opener: IdOpener, opened: OpenedIds) -> PageRequest:
    """The page that a query asks for. Raises GatewayError 404 for a cursor that is not the
    caller's."""
    parameters = Query.parse(query)
    size = _size(parameters.get(lists.limit) or "" if lists.limit else "", lists)
    for name, backward in ((lists.backward, True), (lists.forward, False)):
        text = parameters.get(name) if name else None
        if text:
            return PageRequest(size, _position(text, lists, opener, opened), backward)
    return PageRequest(size, Position())


def _size(text: str, lists: ListFacts) -> int:
    """The rows of a page. 0 is the default where the vendor names the cursor: a page without rows
    would have the one that the caller has sent (Google's AIP-158 reads 0 so)."""
    size = min(int(text[:_DIGITS]), lists.max) if text.isdecimal() else lists.default
    return size or (0 if lists.cursor == "id" else lists.default)


def _position(text: str, lists: ListFacts, opener: IdOpener, opened: OpenedIds) -> Position:
    if lists.cursor == "id":
        vendor_id = opener.open(text, lists.kind, "", opened)
        return Position(opened.holder, text if vendor_id is None else vendor_id)
    coded = opener.open(text, _CURSOR + lists.kind, "", opened)
    if coded is None:  # the vendor's own, from before the switch
        return Position(None, text)
    skip, _, token = coded.partition(":")
    try:
        return Position(opened.holder, urlsafe_b64decode(token).decode(), int(skip))
    except ValueError as error:
        raise not_found() from error


def cursor_text(position: Position, lists: ListFacts, opener: IdOpener, owner: bytes) -> str:
    """A position of a list with `cursor: token` as the caller gets it. Raises GatewayError 502 for
    a vendor's cursor that is too long to seal."""
    assert position.holder is not None
    coded = f"{position.skip}:{urlsafe_b64encode(position.cursor.encode()).decode()}"
    identity = Identity(coded, position.holder, owner)
    try:
        return opener.sealer.seal(identity, _CURSOR + lists.kind)
    except TooLong as error:
        message = (
            f"The upstream's cursor cannot be sealed: it has {len(position.cursor)} characters."
        )
        raise GatewayError(502, "upstream_error", message) from error


def page_query(query: str, lists: ListFacts, cursor: str, size: int, *, backward: bool) -> str:
    """The query for a page of a vendor."""
    cursors = {_plain(name) for name in (lists.forward, lists.backward) if name}
    parameters = Query.parse(query)
    query = parameters.without([name for name in parameters.names() if _plain(name) in cursors])
    if lists.limit:
        query = Query.parse(query).replace(lists.limit, str(size))
    name = lists.backward if backward else lists.forward
    return Query.parse(query).replace(name, cursor) if cursor and name else query


def _plain(name: str) -> str:
    """The name of a parameter without what servers overlook: capitals, `_`, and brackets. A vendor
    gets no cursor of another account, however it is spelt."""
    return name.partition("[")[0].replace("_", "").lower()


class VendorPage:
    """A page of a vendor: its `rows`, whether it has `more`, and the cursor behind it."""

    def __init__(self, value: Any, lists: ListFacts, size: int, *, backward: bool) -> None:
        self.value = value
        rows = member_at(value, lists.items)
        self.rows: Sequence[Any] = rows if isinstance(rows, list) else []
        if lists.cursor == "token":
            following = member_at(value, lists.next)
            self.following = following if isinstance(following, str) else ""
            self.more = bool(self.following)
            return
        last = member_at(self.rows[0 if backward else -1], lists.id) if self.rows else None
        self.following = last if isinstance(last, str) else ""
        more = member_at(value, lists.more) if lists.more else len(self.rows) >= size
        self.more = bool(more) and bool(self.following)


def answer(
    envelope: Mapping[str, Any],
    lists: ListFacts,
    rows: object,
    ends: tuple[Any, Any] | None,
    *,
    more: bool,
    cursor: str,
) -> dict[str, Any]:
    """The page for the caller: that of the vendor with other rows. `ends` are the ids of the first
    and the last of them, None without rows."""
    page = dict(envelope)
    _set(
        page, lists.items, rows, always=ends is not None or member_at(page, lists.items) is not None
    )
    if lists.more:
        _set(page, lists.more, more)
    for steps, index in ((lists.first, 0), (lists.last, 1)):
        if steps:
            _set(page, steps, None if ends is None else ends[index])
    if lists.next:
        _set(page, lists.next, cursor or None, always=bool(cursor))
    return page


def without_rows(page: Any, lists: ListFacts) -> dict[str, Any]:
    """A page of a vendor without its rows."""
    envelope = dict(page) if isinstance(page, dict) else {}
    if member_at(envelope, lists.items) is not None:
        _set(envelope, lists.items, [])
    return envelope


def _set(page: dict[str, Any], steps: Sequence[str], value: Any, *, always: bool = True) -> None:
    """Write a value at a path; where it is not needed, take the vendor's away."""
    node = page
    for step in steps[:-1]:
        if not isinstance(node.get(step), dict):
            return
        node[step] = dict(node[step])
        node = node[step]
    if always:
        node[steps[-1]] = value
    else:
        node.pop(steps[-1], None)
