"""Responses that the records keep: encrypted, of one owner, until they expire."""

import os

import orjson
import pytest

from engine.objects import stored_responses
from engine.objects.sealed_ids import RECORDS, Holder, Identity, Sealer
from engine.objects.stored_responses import StoredResponses, input_page
from engine.stores.database.failures import DatabaseAway
from engine.values.errors import GatewayError
from tests.support.response_rows import ResponseRows

OLD, NEW = "an old key of the ring " * 3, "a new key of the ring " * 3
IDENTITY = Identity("resp_1", Holder(RECORDS), b"owner--1")


def keeper(store, *keys, now=1000.0):
    return StoredResponses(store, Sealer(keys or [OLD], [RECORDS]), 60.0, lambda: now)


def keep(stored, items, document):
    """Keep a response; whether it is."""
    entry = stored.entry(items, document)
    return entry is not None and stored.keep(entry, "req_1")


def response(identity=IDENTITY, key=OLD, text="hello"):
    name = Sealer([key], [RECORDS]).seal(identity, "response")
    return {"id": name, "output": [{"type": "message", "content": text}]}


def test_a_response_is_found_with_its_conversation_until_it_expires():
    store = ResponseRows()
    assert keep(keeper(store), b'{"a":1}', response())
    found = keeper(store, now=1059.0).find(IDENTITY)
    assert orjson.loads(b"[%b]" % found.items) == [{"a": 1}, response()["output"][0]]
    assert keeper(store, now=1060.0).find(IDENTITY) is None


def test_the_records_show_nothing_of_a_conversation():
    store = ResponseRows()
    secret = os.urandom(30).hex()
    keep(keeper(store), b"1", response(text=secret))
    ((key, (_, data)),) = store.rows.items()
    assert secret.encode() not in data
    store.rows[b"another"] = store.rows.pop(key)
    assert keeper(store).find(IDENTITY) is None, "a row opens under its own key only"


def test_a_ring_opens_what_an_older_key_has_encrypted_and_forgets_with_it():
    store = ResponseRows()
    keep(keeper(store, OLD), b"1", response())
    assert keeper(store, NEW, OLD).find(IDENTITY) is not None
    assert keeper(store, NEW).find(IDENTITY) is None


def test_another_owner_finds_nothing():
    store = ResponseRows()
    keep(keeper(store), b"1", response())
    assert keeper(store).find(IDENTITY._replace(owner=b"owner--2")) is None


def test_what_is_too_long_or_cannot_be_written_is_not_kept(monkeypatch):
    store = ResponseRows()
    monkeypatch.setattr(stored_responses, "MAX_CONVERSATION", 500)
    assert not keep(keeper(store), b"1" * 500, response())
    store.error = DatabaseAway("it is down")
    assert not keep(keeper(store), b"1", response())


def test_records_that_cannot_be_asked_are_a_503():
    store = ResponseRows()
    store.error = DatabaseAway("it is down")
    for ask in (keeper(store).find, keeper(store).remove):
        with pytest.raises(GatewayError) as failed:
            ask(IDENTITY)
        assert failed.value.status == 503


def test_a_removed_response_is_gone():
    store = ResponseRows()
    keep(keeper(store), b"1", response())
    keeper(store).remove(IDENTITY)
    assert keeper(store).find(IDENTITY) is None


def test_another_account_of_the_upstream_finds_nothing():
    store = ResponseRows()
    keep(keeper(store), b"1", response())
    assert keeper(store).find(IDENTITY._replace(holder=Holder(RECORDS, 1))) is None


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
