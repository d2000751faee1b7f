"""Lists of objects: pages are filled with the caller's own, from all accounts."""

import os

import orjson
import pytest

from engine.objects.pages import MAX_PAGES
from engine.upstream.objects.list_pages import RowReader
from engine.upstream.objects.object_lists import ListForward
from engine.values.errors import GatewayError
from tests.support.object_lists import FACTS, ids, large, listed, page, queries, row
from tests.support.object_routes import OTHER, forward, opened, sealed, target
from tests.support.upstreams import Client, FakeResponse


def test_rows_of_others_are_left_out_and_the_page_is_filled():
    client = Client(
        page(row("a", OTHER), row("b"), row("c", None), more=True),
        page(row("d"), row("e", OTHER), row("f"), more=True),
        page(row("g"), row("h")),
    )
    answer = listed(client, "limit=3")
    assert ids(answer) == [sealed("b"), sealed("d"), sealed("f")]
    assert (answer["has_more"], answer["first_id"]) == (True, sealed("b"))
    assert queries(client) == ["limit=3", "limit=3&after=c"]
    assert answer["data"][0]["metadata"] == {}


def test_the_next_page_goes_on_behind_the_last_row():
    client = Client(page(row("g"), row("h", OTHER)))
    answer = listed(client, f"limit=2&after={sealed('f')}")
    assert (ids(answer), answer["has_more"]) == ([sealed("g")], False)
    assert queries(client) == ["limit=3&after=f"]


def test_a_page_that_is_cut_has_more():
    answer = listed(Client(page(row("a"), row("b"), row("c"))), "limit=2")
    assert (ids(answer), answer["has_more"]) == ([sealed("a"), sealed("b")], True)


def test_a_page_of_no_rows_says_whether_there_are_any():
    for rows, more in (([row("a")], True), ([row("a", OTHER)], False)):
        client = Client(page(*rows))
        answer = listed(client, "limit=0")
        assert (ids(answer), answer["has_more"], answer["first_id"]) == ([], more, None)
        assert len(client.requests) == 1


def test_backwards_the_nearest_rows_come():
    client = Client(page(row("c"), row("d", OTHER), row("e"), more=True), page(row("a"), row("b")))
    answer = listed(client, f"limit=3&before={sealed('f')}")
    assert (ids(answer), answer["has_more"]) == ([sealed("b"), sealed("c"), sealed("e")], True)
    assert queries(client) == ["limit=3&before=f", "limit=3&before=c"]


def test_a_list_without_own_rows_ends_with_a_reason():
    pages = [page(row(f"a{number}", OTHER), more=True) for number in range(MAX_PAGES + 1)]
    client = Client(*pages)
    with pytest.raises(GatewayError) as raised:
        listed(client)
    assert (raised.value.status, raised.value.code) == (503, "list_too_long")
    assert len(client.requests) == MAX_PAGES


def test_a_long_list_with_own_rows_goes_on_behind_them():
    pages = [page(row(f"a{number}", OTHER), more=True) for number in range(MAX_PAGES)]
    answer = listed(Client(page(row("mine"), more=True), *pages))
    assert (ids(answer), answer["has_more"]) == ([sealed("mine")], True)


def test_an_error_of_the_vendor_is_the_answer():
    error = FakeResponse(400, body=[b'{"error":{"message":"bad limit"}}'])
    assert listed(Client(error))["error"]["message"] == "bad limit"


def test_rows_of_large_pages_are_taken_in_another_process():
    handler = forward(
        ListForward,
        FACTS,
        target(
            "alpha",
            client=Client(
                large(row("a"), row("b", OTHER), row("c"), more=True),
                page(row("d"), more=True),
                large(row("e"), row("f")),
            ),
        ),
    )
    response = handler(opened(query="limit=4"))
    assert not isinstance(response.body, bytes)
    answer = orjson.loads(b"".join(response.body))
    assert ids(answer) == [sealed("a"), sealed("c"), sealed("d")]
    assert (answer["first_id"], answer["has_more"]) == (sealed("a"), True)


def test_a_page_whose_process_dies_is_a_502(monkeypatch, caplog):
    monkeypatch.setattr(RowReader, "read", lambda *arguments: os._exit(1))
    with pytest.raises(GatewayError, match="could not read it"):
        listed(Client(large(row("a"))))
    assert "ended without a result" in caplog.text


@pytest.mark.parametrize(
    ("status", "content_type"),
    [
        (200, "application/x-protobuf"),
        (200, "text/javascript"),
        (200, ""),
        (206, "application/json"),
    ],
)
def test_a_list_that_cannot_be_read_row_by_row_is_not_shown(status, content_type):
    other = FakeResponse(status, [("content-type", content_type)], [b'[{"id": "another\'s"}]'])
    with pytest.raises(GatewayError, match="list cannot be read") as raised:
        listed(Client(other))
    assert raised.value.status == 502


def test_rows_that_cannot_be_told_apart_are_read_once():
    facts = {key: FACTS[key] for key in ("creates", "lists")}
    client = Client(page(row("a"), more=True), page(row("b")))
    handler = forward(ListForward, facts, target("alpha", client=client))
    answer = orjson.loads(handler(opened()).body)
    assert (answer["data"], answer["has_more"], len(client.requests)) == ([], False, 1)


def test_a_vendors_cursor_goes_on_behind_the_rows_that_were_shown():
    rows = {"kind": "file", "limit": "n", "max": 3, "forward": "t", "cursor": "token"}
    facts = FACTS | {"lists": rows | {"next": "body#/next"}}
    client = Client(page(row("a"), row("b"), row("c")), page(row("a"), row("b"), row("c")))
    handler = forward(ListForward, facts, target("alpha", client=client))
    first = orjson.loads(handler(opened(query="n=2")).body)
    assert ids(first) == [sealed("a"), sealed("b")]
    last = orjson.loads(handler(opened(query=f"n=2&t={first['next']}")).body)
    assert (ids(last), "next" in last) == ([sealed("c")], False)
