"""The names by which a request says what it is counted."""

from __future__ import annotations

import pytest

from engine.callers.limits.request_names import RequestNames, tag_reader, team_name, text_of
from engine.exchange.exchange import Content
from engine.values.bounded_names import NameTables
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from engine.values.quota import Quota, QuotaRule
from engine.values.quota_sharers import NOBODY, OTHERS, Sharer, read_sharing
from engine.values.tags import tag_in, tags_text
from tests.support.exchanges import new_exchange

RATE = Quota("requests", 5, 60.0)


def rule(by, **more):
    return QuotaRule(RATE, read_sharing({"by": by, **more}), "rate")


def name(by, exchange, tables=None, **more):
    (read,) = RequestNames([rule(by, **more)], tables or NameTables()).readers
    return read(exchange)


def said(body=None, customer=None, caller="app", **fields):
    environ = {} if customer is None else {"HTTP_X_CUSTOMER": customer}
    exchange = new_exchange(environ=environ, caller=Caller(caller, **fields))
    exchange.content = Content("application/json", body)
    return exchange


HEADER = {"header": "X-Customer", "trusted": ["app*"]}


@pytest.mark.parametrize(
    ("caller", "customer", "expected"),
    [
        ("app", " acme ", "acme"),
        ("app-2", "a,b", "a,b"),
        ("eve", "acme", NOBODY),
        ("app", "", NOBODY),
    ],
)
def test_a_header_counts_of_those_who_are_trusted(caller, customer, expected):
    assert name(HEADER, said(customer=customer, caller=caller)) == expected


def test_without_a_token_nobody_is_trusted_but_everybody():
    exchange = said(customer="acme")
    exchange.caller = None
    assert name(HEADER, exchange) == NOBODY
    assert name({"header": "x-customer", "trusted": ["*"]}, exchange) == "acme"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"metadata": {"user": "ann"}}, "ann"),
        ({"metadata": {"user": 7}}, "7"),
        ({"metadata": {"user": True}}, "true"),
        ({"metadata": {"user": {}}}, NOBODY),
        ({"metadata": {"user": None}}, NOBODY),
        ({"metadata": ["ann"]}, NOBODY),
        (["ann"], NOBODY),
        (None, NOBODY),
    ],
)
def test_a_member_of_the_body(body, expected):
    assert name({"body": "/metadata/user"}, said(body)) == expected


def test_an_entry_of_a_list_of_the_body():
    assert name({"body": "/tags/1"}, said({"tags": ["a", "b"]})) == "b"
    assert name({"body": "/tags/2"}, said({"tags": ["a", "b"]})) == NOBODY


def test_a_claim_is_that_of_the_caller():
    assert name({"claim": "tenant"}, said(claims={"tenant": "acme"})) == "acme"
    assert name({"claim": "tenant"}, said()) == NOBODY


def test_a_request_without_a_name_can_be_refused():
    with pytest.raises(GatewayError) as caught:
        name(HEADER, said(customer="acme", caller="eve"), missing="refuse")
    assert (caught.value.status, caught.value.code) == (400, "limit_name_missing")
    assert "header x-customer" in caught.value.message


def test_names_without_room_share_one_count():
    tables = NameTables(size=1)
    assert [name(HEADER, said(customer=each), tables) for each in "abab"] == [
        "a",
        OTHERS,
        "a",
        OTHERS,
    ]


def test_one_place_is_read_once_for_several_limits():
    names = RequestNames([rule(HEADER), rule(["token", HEADER]), rule("token")], NameTables())
    assert len(names.readers) == len(names.sharers) == 1


def test_a_number_of_thousands_of_digits_is_a_name():
    assert len(text_of(10**5000)) > 4000


def test_a_team_is_that_of_the_token():
    assert team_name(Caller("a", team="search"), []) == "search"
    assert team_name(Caller("a"), [rule("team")]) == team_name(None, [rule("team")]) == NOBODY
    with pytest.raises(GatewayError):
        team_name(Caller("a"), [rule("team", missing="refuse")])


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
