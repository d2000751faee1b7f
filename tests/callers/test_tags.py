"""The tags of a request: of trusted headers, claims and members of the body, bounded."""

from __future__ import annotations

from engine.callers.tags import tag_reader
from engine.exchange.exchange import Content
from engine.values.bounded_names import NameTables
from engine.values.caller import Caller
from engine.values.quota_sharers import OTHERS, Sharer
from engine.values.tags import tag_in, tags_text
from tests.support.exchanges import new_exchange

PLACES = {
    "project": Sharer("body", "/metadata/project"),
    "customer": Sharer("header", "x-customer", ("shop",)),
    "tenant": Sharer("claim", "tenant"),
}


def request(name="shop", customer="", project=None, **claims):
    environ = {"HTTP_X_CUSTOMER": customer} if customer else {}
    exchange = new_exchange(caller=Caller(name, claims=claims), environ=environ)
    if project is not None:
        exchange.content = Content("application/json", {"metadata": {"project": project}})
    return exchange


def read(exchange, **tables):
    return tags_text(tag_reader(PLACES, NameTables(**tables))(exchange))


def test_all_that_a_request_has_is_one_text():
    text = read(request(customer="acme", project="Zoë", tenant="t-1"))
    assert text == '{"customer":"acme","project":"Zoë","tenant":"t-1"}'
    assert tag_in(text, "customer") == "acme"


def test_a_request_without_any_has_no_text():
    assert read(request()) == ""
    assert read(request(project={"a": 1})) == ""


def test_the_header_of_a_caller_that_is_not_trusted_is_not_noted():
    assert read(request("eve", customer="acme", project=7)) == '{"project":"7"}'


def test_long_values_are_hashed_and_tokens_left_out():
    text = read(request(customer="x" * 500, project="mw-" + "a" * 61))
    assert tag_in(text, "customer").startswith("#")
    assert "a" * 20 not in text
    assert len(text) < 200


def test_the_number_of_values_is_bounded():
    reader = tag_reader(PLACES, NameTables(size=2))
    texts = [reader(request(customer=f"c{at}"))["customer"] for at in range(4)]
    assert texts == ["c0", "c1", OTHERS, OTHERS]
