"""Stored responses in the database."""

from engine.stores.database.stored_responses import ResponseTable


def test_a_response_is_kept_until_it_expires(records):
    table = ResponseTable(records)
    table.put(b"one", 100.0, b"early")
    table.put(b"one", 200.0, b"\x00late")
    assert (table.get(b"one", 150.0), table.get(b"one", 200.0)) == (b"\x00late", None)
    assert table.get(b"two", 0.0) is None


def test_what_was_removed_or_has_expired_is_gone(records):
    table = ResponseTable(records)
    for key, expires in ((b"old", 10.0), (b"new", 30.0), (b"deleted", 30.0)):
        table.put(key, expires, b"x")
    table.remove(b"deleted")
    table.remove_expired(20.0)
    assert [table.get(key, 0.0) for key in (b"old", b"new", b"deleted")] == [None, b"x", None]


def test_one_of_several_claims_a_key_until_that_expires(records):
    table = ResponseTable(records)
    claims = [table.claim(b"one", 10.0, data, 0.0) for data in (b"first", b"second", b"first")]
    assert claims == [True, False, True], "its own claim, of which it had no answer, is its own"
    assert table.get(b"one", 5.0) == b"first"
    assert table.claim(b"one", 20.0, b"third", 10.0)
    assert table.get(b"one", 15.0) == b"third"
