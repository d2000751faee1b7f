"""What is kept of uploads that may be batches: one content, complete or not at all."""

import os

import pytest

from engine.exchange.opened_ids import Holder, Upload
from engine.objects import batch_uploads
from engine.objects.batch_uploads import BatchUploads
from engine.objects.sealed_ids import Identity, Sealer
from engine.stores.database.failures import DatabaseAway
from engine.values.errors import GatewayError
from tests.support.response_rows import ResponseRows

SEALER = Sealer(["a key for tests " * 4], ["a"])
FILE = Identity("files/1", Holder("a"), b"owner--1")
LARGE = b"0123456789" * 500_000
UPLOAD = Upload(b"owner--1", "mwaddress")


def uploads(store, now=0.0):
    return BatchUploads(store, SEALER, lambda: now)


def finished(store, *pieces, size=None):
    at, known = 0, uploads(store)
    for piece in pieces:
        known.keep(UPLOAD, at, [piece])
        at += len(piece)
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
    keys = known.keep(UPLOAD, 0, [LARGE])
    assert (len(keys), known.keep(UPLOAD, 0, [LARGE[:7], LARGE[7:]])) == (3, [])
    with pytest.raises(GatewayError) as raised:
        known.keep(UPLOAD, 0, [LARGE[:-1] + b"x"])
    assert (raised.value.status, raised.value.code) == (409, "upload_conflict")
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, len(LARGE))
    assert content(known) == LARGE, "what was refused takes nothing away"


def test_what_the_vendor_refuses_is_forgotten():
    store = ResponseRows()
    known = uploads(store)
    known.forget(known.keep(UPLOAD, 0, [LARGE]))
    known.keep(UPLOAD, 0, [b"b"])
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, 1)
    assert content(known) == b"b"


def test_an_upload_has_begun_with_its_first_piece():
    store = ResponseRows()
    uploads(store).keep(UPLOAD, 7, [b"a"])
    assert not uploads(store).has_begun(UPLOAD)
    uploads(store).keep(UPLOAD, 0, [b"a"])
    assert uploads(store).has_begun(UPLOAD)
    assert not uploads(store).has_begun(UPLOAD._replace(address="mwother"))


def test_an_upload_without_room_is_lost_for_ever(monkeypatch, caplog):
    monkeypatch.setattr(batch_uploads, "MAX_KEPT", 500)
    store, piece = ResponseRows(), [bytes(range(256))]
    known, second = uploads(store), UPLOAD._replace(address="mwsecond")
    keys = known.keep(UPLOAD, 0, piece)
    assert known.keep(second, 0, piece) is None
    assert "its owner has 500 bytes" in caplog.text
    other = Upload(b"owner--2", "mwother")
    assert known.keep(other, 0, piece) is not None, "of another owner"
    known.forget(keys)
    assert not known.has_begun(second)
    assert known.keep(second, 0, piece) is None, "the vendor may have got other bytes"
    assert known.keep(UPLOAD._replace(address="mwthird"), 0, piece) is not None


def test_of_a_piece_that_has_no_room_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(batch_uploads, "MAX_KEPT", 4_000_000)
    store = ResponseRows()
    assert uploads(store).keep(UPLOAD, 0, [os.urandom(5_000_000)]) is None
    assert store.size(UPLOAD.owner, 0.0) < 100


def test_without_the_records_nothing_is_kept(caplog):
    store = ResponseRows()
    store.error = DatabaseAway("gone")
    known = uploads(store)
    for use in (lambda: known.keep(UPLOAD, 0, [b"a"]), lambda: known.content(FILE)):
        with pytest.raises(GatewayError) as raised:
            use()
        assert raised.value.status == 503
    known.finish(UPLOAD, FILE.holder, FILE.vendor_id, 1)
    known.forget([b"key"])
    assert "is not noted" in caplog.text
    assert "is not forgotten" in caplog.text
