"""Pages of vendors: received within bounds, and put together."""

import orjson
import pytest

from engine.objects.facts import MEMBER
from engine.objects.facts_reader import read_facts
from engine.objects.response_ids import ResponseSealer, SealedPlaces
from engine.relay.held_body import LARGE
from engine.upstream.objects.list_pages import MAX_PAGE, RowReader
from engine.upstream.objects.object_lists import ListForward
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.object_lists import FACTS, listed, row
from tests.support.object_routes import ALPHA, OWNER, SEALER, forward, opened, sealed, target
from tests.support.upstreams import Client, FakeResponse


def test_a_page_that_is_no_json_is_a_502():
    with pytest.raises(GatewayError) as raised:
        listed(Client(FakeResponse(body=[b"{"])))
    assert raised.value.status == 502


@pytest.mark.parametrize("body", [[b"x" * 2 * LARGE], [b"x" * (MAX_PAGE + 1)]])
def test_a_large_page_that_is_no_json_or_too_large_is_a_502(body):
    with pytest.raises(GatewayError, match="list cannot be read") as raised:
        listed(Client(FakeResponse(body=body)))
    assert raised.value.status == 502


def test_headers_of_a_page_that_name_its_rows_are_left_out():
    headers = [("link", '</v1/files?after=file-9>; rel="next"'), ("etag", '"1"'), ("x-other", "1")]
    body = orjson.dumps({"data": [row("a")]})
    first = FakeResponse(200, [*headers, ("content-type", "application/json")], [body])
    handler = forward(
        ListForward,
        FACTS,
        target("alpha", client=Client(first)),
        declared_responses=["link", "etag", "x-other"],
    )
    names = {name for name, _ in handler(opened()).headers}
    assert "x-other" in names
    assert names.isdisjoint({"link", "etag"})


ROW_FACTS = {
    "creates": {"file": "body#/data/*/id"},
    "lists": {"kind": "file", "forward": "after", "more": "body#/has_more"},
    "marks": [{"kind": "file", "form": "map", "shown": "body#/data/*/metadata"}],
}
PAGE = {
    "object": "list",
    "data": [
        *({"id": name, "metadata": {MEMBER: "x"}, "size": 1.50} for name in "abc"),
        {"id": "d"},
        {"id": "e"},
    ],
    "has_more": True,
}


def reader(backward=False, look=None):
    facts, _ = read_facts(ROW_FACTS)
    own = ("b", "c", "e")
    reads = RowReader(facts.lists, 5, lambda row: row["id"] in own, backward, look)
    sealer = ResponseSealer(
        SealedPlaces(facts), SEALER, OWNER, ALPHA, lambda url: None, lambda name: ""
    )
    return lambda text, skip, room: reads.read(text, sealer, skip, room)


@each(
    ("backward", "skip", "room", "names", "rest"),
    [
        (False, 0, 9, "bce", None),
        (False, 0, 3, "bce", None),
        (False, 0, 2, "bc", 4),
        (False, 2, 9, "ce", None),
        (False, 5, 9, "", None),
        (True, 0, 9, "bce", None),
        (True, 0, 2, "ce", 0),
    ],
)
def test_own_rows_are_taken_with_sealed_ids(backward, skip, room, names, rest):
    rows, text = reader(backward)(orjson.dumps(PAGE), skip, room)
    ids = [row["id"] for row in orjson.loads(b"[" + text + b"]")]
    assert ids == [sealed(name) for name in names]
    assert (rows.count, rows.rest) == (len(names), rest)
    assert rows.ends == ((ids[0], ids[-1]) if ids else None)


def test_the_rest_of_a_page_is_known_without_its_rows():
    rows, text = reader()(orjson.dumps(PAGE), 0, 1)
    assert rows.envelope == {"object": "list", "data": [], "has_more": True}
    assert (rows.more, rows.following) == (True, "e")
    assert orjson.loads(text) == {"id": sealed("b"), "metadata": {}, "size": 1.5}


def test_a_row_that_is_changed_within_and_above_has_the_change_above():
    def look(value):
        return {("data", 1): b'{"id": "other"}'}, [value["data"][4]]

    rows, text = reader(look=look)(orjson.dumps(PAGE), 0, 1)
    assert orjson.loads(text) == {"id": "other"}
    assert [row["id"] for row in rows.notable] == [sealed("e")]


def test_a_page_that_is_no_json_is_none():
    with pytest.raises(ValueError, match="unexpected"):
        reader()(b"[", 0, 1)
