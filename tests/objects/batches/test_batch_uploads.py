"""What is kept of uploads that may be batches: one content, complete or not at all."""

import os

import pytest

from engine.exchange.opened_ids import Holder, Upload
from engine.objects.batches import batch_uploads
from engine.objects.batches.batch_uploads import BatchUploads, UploadPiece
from engine.objects.sealed_ids import Identity, Sealer
from engine.stores.database.failures import DatabaseAway, DatabaseRefuses
from engine.values.errors import GatewayError
from tests.support.response_rows import ResponseRows

SEALER = Sealer(["a key for tests " * 4], ["a"])
FILE = Identity("files/1", Holder("a"), b"owner--1")
LARGE = b"0123456789" * 500_000
UPLOAD = Upload(b"owner--1", "mwaddress")


def uploads(store, now=0.0, sealer=SEALER):
    return BatchUploads(store, sealer, lambda: now)


def piece(offset, *chunks, upload=UPLOAD):
    return UploadPiece(upload, offset, lambda: chunks)


def keep(known, offset, *chunks, upload=UPLOAD):
    """The piece that is kept, None without room."""
    brought = piece(offset, *chunks, upload=upload)
    return brought if known.keep(brought) else None


def finished(store, *pieces, size=None):
    at, known = 0, uploads(store)
    for each in pieces:
        keep(known, at, each)
        at += len(each)
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, at if size is None else size)
    return uploads(store)  # of another worker


def content(known, file=FILE):
    pieces = known.content(file)
    return None if pieces is None else b"".join(pieces)


def test_the_pieces_of_a_file_are_read_again():
    store = ResponseRows()
    assert content(finished(store, LARGE, b"end")) == LARGE + b"end"
    assert all(LARGE[:10] not in data for _, data in store.rows.values())


def test_nothing_is_known_of_another_file_and_after_its_time():
    store = ResponseRows()
    finished(store, b"a")
    for other in (FILE._replace(vendor_id="files/2"), FILE._replace(holder=Holder("a", 1))):
        assert content(uploads(store), other) is None
    assert content(uploads(store, now=48 * 3_600.0)) is None


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_file_of_another_size_than_what_is_kept_is_not_read(size):
    known = finished(ResponseRows(), b"a", b"b", size=size)
    with pytest.raises(ValueError, match="2 of"):
        content(known)


def test_a_piece_that_is_sent_again_is_the_same():
    store = ResponseRows()
    known = uploads(store)
    first, again = keep(known, 0, LARGE), keep(known, 0, LARGE[:7], LARGE[7:])
    assert (len(first.keys), again.keys) == (3, [])
    with pytest.raises(GatewayError) as raised:
        keep(known, 0, LARGE[:-1] + b"x")
    assert (raised.value.status, raised.value.code) == (409, "upload_conflict")
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, len(LARGE))
    assert content(known) == LARGE, "what was refused takes nothing away"


class Store(ResponseRows):
    """Calls `meanwhile` once, between the look for a part and its claim, and `before_remove` before
    one is removed. `room` is the number of
    rows for which the disk has room, None for any."""

    meanwhile = None
    before_remove = None
    room = None

    def remove(self, key):
        call, self.before_remove = self.before_remove, None
        if call is not None:
            call()
        super().remove(key)

    def put(self, key, expires, data):
        if self.room == 0:
            raise DatabaseRefuses("its disk is full")
        self.room = None if self.room is None else self.room - 1
        super().put(key, expires, data)

    def size(self, prefix, now):
        size, call = super().size(prefix, now), self.meanwhile
        self.meanwhile = None
        if call is not None:
            call()
        return size


def test_a_piece_that_two_requests_bring_at_once_is_the_same():
    store, first = Store(), []
    store.meanwhile = lambda: first.append(keep(uploads(store), 0, b"a"))
    assert (keep(uploads(store), 0, b"a").keys, len(first[0].keys)) == ([], 1)
    store.meanwhile = lambda: keep(uploads(store), 1, b"b")
    with pytest.raises(GatewayError, match="byte 1"):
        keep(uploads(store), 1, b"c")


@pytest.mark.parametrize("is_first", [True, False])
def test_a_piece_that_the_vendor_takes_of_one_of_two_requests_stays(is_first):
    store = ResponseRows()
    known = uploads(store)
    failing, taken = keep(known, 0, LARGE), keep(known, 0, LARGE)
    ends = [lambda: known.forget(failing), lambda: known.confirm(taken)]
    for end in ends if is_first else reversed(ends):
        end()
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, len(LARGE))
    assert content(known) == LARGE


def test_a_piece_of_two_requests_that_fail_is_forgotten():
    store = ResponseRows()
    known = uploads(store)
    for failing in [keep(known, 0, LARGE), keep(known, 0, LARGE)]:
        known.forget(failing)
    assert keep(known, 0, b"another").keys


def test_parts_that_vanish_while_they_are_looked_for_are_put_back():
    """The request that fails forgets a part behind the other's back, and sees its note then."""
    store = Store()
    known = uploads(store)
    failing, taken = keep(known, 0, LARGE), keep(known, 0, LARGE)
    store.before_remove = lambda: known.confirm(taken)
    known.forget(failing)
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, len(LARGE))
    assert content(known) == LARGE


def test_an_upload_is_lost_if_another_piece_comes_while_the_vendor_takes_one(caplog):
    known = uploads(ResponseRows())
    failing, taken = keep(known, 0, b"a"), keep(known, 0, b"a")
    known.forget(failing)
    keep(known, 0, b"b")
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, 1)
    known.confirm(taken)
    assert content(known) is None, "it is not what the vendor has"
    assert "another piece meanwhile" in caplog.text


def test_of_a_piece_that_fills_the_disk_nothing_is_kept():
    store = Store()
    store.meanwhile = lambda: setattr(store, "room", 2)
    known = uploads(store)
    with pytest.raises(GatewayError) as raised:
        keep(known, 0, LARGE)
    assert (raised.value.status, store.room) == (503, 0)
    assert store.size(UPLOAD.owner, 0.0) < 100
    store.room = None
    assert len(keep(known, 0, LARGE).keys) == 3, "the piece that is sent again"
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, len(LARGE))
    assert content(known) == LARGE


def test_an_upload_goes_on_while_the_key_is_rotated():
    store, old, new = ResponseRows(), "a key for tests " * 4, "a new key of tests " * 4
    rings = ([old], [old, new], [new, old], [new, old])
    for at, ring in enumerate(rings):  # each piece reaches a replica that is one step further
        known = uploads(store, sealer=Sealer(ring, ["a"]))
        assert keep(known, at, b"%d" % at) is not None
        assert known.has_begun(UPLOAD)
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, len(rings))
    for ring in ([old, new], [new, old]):
        assert content(uploads(store, sealer=Sealer(ring, ["a"]))) == b"0123"
    with pytest.raises(ValueError, match="0 of 4"):  # the key of its pieces was removed
        content(uploads(store, sealer=Sealer([new], ["a"])))


def test_what_the_vendor_refuses_is_forgotten():
    store = ResponseRows()
    known = uploads(store)
    known.forget(keep(known, 0, LARGE))
    keep(known, 0, b"b")
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, 1)
    assert content(known) == b"b"


def test_an_upload_has_begun_with_its_first_piece():
    store = ResponseRows()
    keep(uploads(store), 7, b"a")
    assert not uploads(store).has_begun(UPLOAD)
    keep(uploads(store), 0, b"a")
    assert uploads(store).has_begun(UPLOAD)
    assert not uploads(store).has_begun(UPLOAD._replace(address="mwother"))


def test_an_upload_without_room_is_lost_for_ever(monkeypatch, caplog):
    monkeypatch.setattr(batch_uploads, "MAX_KEPT", 500)
    store, chunk = ResponseRows(), bytes(range(256))
    known, second = uploads(store), UPLOAD._replace(address="mwsecond")
    first = keep(known, 0, chunk)
    assert keep(known, 0, chunk, upload=second) is None
    assert "its owner has 500 bytes" in caplog.text
    other = Upload(b"owner--2", "mwother")
    assert keep(known, 0, chunk, upload=other) is not None, "of another owner"
    known.forget(first)
    assert not known.has_begun(second)
    assert keep(known, 0, chunk, upload=second) is None, "the vendor may have got other bytes"
    assert keep(known, 0, chunk, upload=UPLOAD._replace(address="mwthird")) is not None


def test_of_a_piece_that_has_no_room_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(batch_uploads, "MAX_KEPT", 4_000_000)
    store = ResponseRows()
    assert keep(uploads(store), 0, os.urandom(5_000_000)) is None
    assert store.size(UPLOAD.owner, 0.0) < 100


def test_without_the_records_nothing_is_kept(caplog):
    store = ResponseRows()
    store.error = DatabaseAway("gone")
    known = uploads(store)
    for use in (lambda: keep(known, 0, b"a"), lambda: known.content(FILE)):
        with pytest.raises(GatewayError) as raised:
            use()
        assert raised.value.status == 503
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, 1)
    brought = piece(0, b"a")
    brought.keys = [b"key"]
    known.forget(brought)
    assert "is not noted" in caplog.text
    assert "is not forgotten" in caplog.text
