"""Pages of vendors: received within bounds, and put together."""

import orjson
import pytest

from engine.relay.held_body import LARGE
from engine.upstream.objects.list_pages import MAX_PAGE
from engine.upstream.objects.object_lists import ListForward
from engine.values.errors import GatewayError
from tests.support.object_lists import FACTS, listed, row
from tests.support.object_routes import forward, opened, target
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
