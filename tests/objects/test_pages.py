"""Pages of lists: what is asked for, what a vendor's page says, and what is answered."""

import pytest

from engine.exchange.opened_ids import Holder, OpenedIds
from engine.objects.facts import ListFacts
from engine.objects.id_opener import IdOpener
from engine.objects.pages import (
    Position,
    VendorPage,
    answer,
    cursor_text,
    page_query,
    read_request,
    without_rows,
)
from engine.objects.sealed_ids import Identity, Sealer
from engine.values.errors import GatewayError
from tests.support.each import each

SEALER = Sealer(["a key for tests " * 4], ["alpha"])
OPENER = IdOpener(SEALER, everybody=False, passes=False)
OWNER, OTHER, ALPHA = b"owner--1", b"owner--2", Holder("alpha", 1)
IDS = ListFacts(
    "file", limit="limit", max=50, forward="after", backward="before", more=("has_more",)
)
TOKENS = ListFacts("file", limit="pageSize", forward="pageToken", cursor="token", next=("next",))
MINE = SEALER.seal(Identity("file-7", ALPHA, OWNER), "file")


def asked(query, lists=IDS):
    return read_request(query, lists, OPENER, OpenedIds(OWNER))


@each(
    ("query", "size"),
    [
        ("", 20),
        ("limit=7", 7),
        ("limit=900", 50),
        ("limit=0", 0),
        ("limit=x", 20),
        ("limit=" + "9" * 5000, 50),
    ],
)
def test_the_size_is_within_the_vendors(query, size):
    assert asked(query).size == size


def test_a_size_of_0_is_the_default_where_a_cursor_could_not_go_on():
    assert asked("pageSize=0", TOKENS).size == TOKENS.default


def test_a_cursor_is_an_id_of_the_caller():
    assert asked(f"after={MINE}").start == Position(ALPHA, "file-7")
    before = asked(f"before={MINE}")
    assert (before.start, before.backward) == (Position(ALPHA, "file-7"), True)
    theirs = SEALER.seal(Identity("file-7", ALPHA, OTHER), "file")
    for text in (theirs, "file-7", MINE[:-1]):
        with pytest.raises(GatewayError) as raised:
            asked(f"after={text}")
        assert raised.value.status == 404


def test_a_vendors_cursor_that_cannot_be_sealed_is_the_upstreams_fault():
    with pytest.raises(GatewayError) as raised:
        cursor_text(Position(ALPHA, "t" * 1_200), TOKENS, OPENER, OWNER)
    assert raised.value.status == 502


@each("token", ["t", "a/b+c==", "é", ""])
def test_a_vendors_cursor_is_sealed_with_its_account_and_the_rows_to_skip(token):
    text = cursor_text(Position(ALPHA, token, 3), TOKENS, OPENER, OWNER)
    assert asked(f"pageToken={text}", TOKENS).start == Position(ALPHA, token, 3)
    with pytest.raises(GatewayError):
        read_request(f"pageToken={text}", TOKENS, OPENER, OpenedIds(OTHER))
    with pytest.raises(GatewayError):
        asked(f"pageToken={MINE}", TOKENS)


@each(
    ("cursor", "backward", "expected"),
    [
        ("", False, "x=1&limit=50"),
        ("f7", False, "x=1&limit=50&after=f7"),
        ("f7", True, "x=1&limit=50&before=f7"),
    ],
)
def test_the_query_for_a_vendor(cursor, backward, expected):
    assert page_query("x=1&limit=3&after=sealed", IDS, cursor, 50, backward=backward) == expected


def test_a_vendor_gets_one_cursor_alone():
    assert page_query("before=x&after=y", IDS, "f7", 50, backward=False) == "limit=50&after=f7"
    assert page_query("before=x&after=y", IDS, "f7", 50, backward=True) == "limit=50&before=f7"
    assert page_query("before=x&after=y", IDS, "", 50, backward=False) == "limit=50"


@each("query", ["after[]=file-1", "AFTER=file-1", "After%5B0%5D=file-1&before[]=file-2"])
def test_a_vendor_gets_no_cursor_of_the_callers_in_another_spelling(query):
    assert page_query(f"{query}&x=1", IDS, "", 50, backward=False) == "x=1&limit=50"


def test_a_cursor_has_one_spelling_of_two():
    query = page_query("page_token=raw&pageToken=mine", TOKENS, "f7", 9, backward=False)
    assert query == "pageSize=9&pageToken=f7"


ROWS = [{"id": "a"}, {"id": "b"}]


@each(
    ("lists", "value", "more", "following"),
    [
        (IDS, {"data": ROWS, "has_more": True}, True, "b"),
        (IDS, {"data": ROWS, "has_more": False}, False, "b"),
        (IDS, {"data": [], "has_more": True}, False, ""),
        (IDS, {"data": "x"}, False, ""),
        (IDS, [], False, ""),
        (TOKENS, {"data": ROWS, "next": "t"}, True, "t"),
        (TOKENS, {"data": ROWS}, False, ""),
    ],
)
def test_a_vendors_page_says_whether_it_is_the_last(lists, value, more, following):
    page = VendorPage(value, lists, 2, backward=False)
    assert (page.more, page.following) == (more, following)


def test_without_a_member_for_it_a_full_page_has_more():
    lists = ListFacts("file")
    assert VendorPage({"data": ROWS}, lists, 2, backward=False).more
    assert not VendorPage({"data": ROWS}, lists, 3, backward=False).more


def test_backwards_the_first_row_is_the_cursor():
    assert VendorPage({"data": ROWS, "has_more": 1}, IDS, 2, backward=True).following == "a"


def test_the_answer_is_the_vendors_page_with_the_callers_rows():
    lists = ListFacts("file", more=("has_more",), first=("first_id",), last=("last_id",))
    envelope = {"object": "list", "data": ROWS, "first_id": "a", "last_id": "b", "has_more": False}
    page = answer(envelope, lists, [{"id": "c"}], ("c", "c"), more=True, cursor="")
    expected = {"data": [{"id": "c"}], "first_id": "c", "last_id": "c", "has_more": True}
    assert page == {"object": "list", **expected}
    empty = answer(envelope, lists, [], None, more=False, cursor="")
    assert (empty["data"], empty["first_id"], empty["has_more"]) == ([], None, False)


def test_an_empty_page_of_a_vendor_with_cursors_stays_empty():
    assert answer({}, TOKENS, [], None, more=False, cursor="") == {}
    page = {"data": ROWS, "next": "t"}
    assert answer(page, TOKENS, [], None, more=False, cursor="") == {"data": []}
    assert answer({}, TOKENS, [], None, more=True, cursor="c") == {"next": "c"}


def test_a_page_without_rows_has_their_place():
    assert without_rows({"data": ROWS, "next": "t"}, TOKENS) == {"data": [], "next": "t"}
    assert without_rows({"next": "t"}, TOKENS) == {"next": "t"}
    assert without_rows([], TOKENS) == {}
