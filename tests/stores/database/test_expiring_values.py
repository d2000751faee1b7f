"""Stored responses in the database."""

from engine.stores.database.expiring_values import ROW, ExpiringValues


def test_a_response_is_kept_until_it_expires(records):
    table = ExpiringValues(records)
    table.put(b"one", 100.0, b"early")
    table.put(b"one", 200.0, b"\x00late")
    assert (table.get(b"one", 150.0), table.get(b"one", 200.0)) == (b"\x00late", None)
    assert table.get(b"two", 0.0) is None


def test_what_was_removed_or_has_expired_is_gone(records):
    table = ExpiringValues(records)
    for key, expires in ((b"old", 10.0), (b"new", 30.0), (b"deleted", 30.0)):
        table.put(key, expires, b"x")
    table.remove(b"deleted")
    table.remove_expired(20.0)
    assert [table.get(key, 0.0) for key in (b"old", b"new", b"deleted")] == [None, b"x", None]


def test_the_bytes_below_a_prefix_are_those_of_values_and_rows(records):
    table = ExpiringValues(records)
    rows = [(b"aa", 30.0), (b"ab", 10.0), (b"ab" + b"\xff" * 40, 30.0), (b"a", 30.0), (b"b", 30.0)]
    for key, expires in rows:
        table.put(key, expires, b"12345")
    sizes = [table.size(prefix, 20.0) for prefix in (b"ab", b"a", b"c")]
    assert sizes == [5 + ROW, 3 * (5 + ROW), 0]


def test_one_of_several_claims_a_key_until_that_expires(records):
    table = ExpiringValues(records)
    claims = [table.claim(b"one", 10.0, data, 0.0) for data in (b"first", b"second", b"first")]
    assert claims == [True, False, True], "its own claim, of which it had no answer, is its own"
    assert table.get(b"one", 5.0) == b"first"
    assert table.claim(b"one", 20.0, b"third", 10.0)
    assert table.get(b"one", 15.0) == b"third"
