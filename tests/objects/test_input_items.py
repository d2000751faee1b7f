"""Pages of the input items of a stored response."""

import orjson
import pytest

from engine.objects.input_items import input_page
from engine.values.errors import GatewayError

ITEMS = b",".join(b'{"role":"user","content":"%d"}' % number for number in range(3))


def page(query):
    return orjson.loads(input_page(ITEMS, query))


def texts(query):
    return [row["content"][0]["text"] for row in page(query)["data"]]


def test_items_are_the_newest_first_unless_asked_otherwise():
    assert (texts(""), texts("order=asc")) == (["2", "1", "0"], ["0", "1", "2"])


def test_pages_follow_each_other():
    first = page("limit=2")
    assert first["has_more"]
    rest = page(f"limit=2&after={first['last_id']}")
    assert (rest["has_more"], rest["data"][0]["content"][0]["text"]) == (False, "0")


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=101", "limit=" + "9" * 5000, "order=up", "after=msg_9"]
)
def test_what_is_no_page_is_refused_by_name(query):
    with pytest.raises(GatewayError) as refused:
        page(query)
    assert (refused.value.status, refused.value.param) == (400, query.partition("=")[0])
