"""Which pieces of uploads are kept, and when they are forgotten."""

import pytest

from engine import dialects
from engine.exchange.caller_connection import InternalCaller, InternalConnection
from engine.exchange.exchange import Response
from engine.exchange.opened_ids import Holder, Upload
from engine.exchange.request_body import Body
from engine.exchange.spooled_body import spool
from engine.objects.batches import batch_uploads
from engine.objects.batches.batch_uploads import MAX_FILE, BatchUploads
from engine.objects.id_opener import IdOpener
from engine.objects.id_places import REQUEST, read_place
from engine.objects.sealed_ids import Identity, Sealer
from engine.stages.keep_upload import UploadRules, keep_upload
from engine.stores.database.failures import DatabaseAway
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.response_rows import ResponseRows

SEALER = Sealer(["a key for tests " * 4], ["a"])
PLACE = read_place("upload_address", {"at": "query.upload_id", "bearer": True}, REQUEST)
UPLOAD = SEALER.seal(Identity("vendor's", Holder("a"), b"owner--1"), "upload_address")
OF_ANN = Upload(b"owner--1", UPLOAD)
LINE = b'{"key": "a", "request": {}}\n'
LAST = "upload, finalize"


def kept(store, *, passes=False):
    opener = IdOpener(SEALER, everybody=False, passes=passes)
    uploads = BatchUploads(store, SEALER, lambda: 0.0)
    return UploadRules(uploads, opener, PLACE, dialects.get("gemini").files, "token")


def piece(body=LINE, command=LAST, offset="0", upload=UPLOAD, **fields):
    environ = {"HTTP_X_GOOG_UPLOAD_COMMAND": command, "HTTP_X_GOOG_UPLOAD_OFFSET": offset}
    body = body if isinstance(body, Body) else Body(body)
    return new_exchange(query=f"upload_id={upload}", environ=environ, body=body, **fields)


def send(store, exchange, status=200):
    """The objects of the exchange behind the stage."""
    stage = keep_upload(kept(store))
    stage(exchange, lambda exchange: Response(status, []))
    return exchange.objects


def test_a_file_that_may_be_a_batch_is_kept_from_its_first_piece_to_its_last():
    store = ResponseRows()
    assert send(store, piece(b"\xef\xbb\xbf \n" + LINE, "upload")).upload is None
    rows = len(store.rows)
    assert send(store, piece(spool([b"rest"]), LAST, str(len(LINE) + 5))).upload == OF_ANN
    assert len(store.rows) == rows + 1


@each(
    "fields",
    [
        {"body": b"a text"},
        {"body": b'{"a": 1}'},
        {"body": b""},
        {"command": "query"},
        {"command": "cancel"},
        {"command": "query, upload"},
        {"offset": "4"},
        {"offset": ""},
        {"offset": "-1"},
        {"offset": str(MAX_FILE)},
        {"connection": InternalConnection(b"", InternalCaller(Caller("ann"), is_copy=True))},
    ],
)
def test_other_uploads_are_not_kept(fields):
    store = ResponseRows()
    assert send(store, piece(**fields)) is None
    assert store.rows == {}


@each("upload", ["", "mwforged", "vendor", UPLOAD[:-1], f"{UPLOAD}&upload_id={UPLOAD}"])
def test_nothing_is_kept_for_who_has_no_address(upload):
    store = ResponseRows()
    with pytest.raises(GatewayError) as raised:
        send(store, piece(upload=upload))
    assert raised.value.status == 404
    assert store.rows == {}


def test_an_address_that_is_not_sealed_passes_where_the_config_says_so():
    store = ResponseRows()
    assert kept(store, passes=True).upload(piece(upload="vendor"), LINE, len(LINE)) is None


def test_an_upload_without_room_passes_and_is_not_noted(monkeypatch):
    monkeypatch.setattr(batch_uploads, "MAX_KEPT", 20)
    assert send(ResponseRows(), piece()) is None


def test_pieces_of_any_file_pass_while_the_records_are_away():
    """What lacks a piece is no batch; that of a video needs no database."""
    store = ResponseRows()
    store.error = DatabaseAway("gone")
    assert send(store, piece(b"of a video", offset="8388608")) is None
    with pytest.raises(GatewayError) as raised:
        send(store, piece())
    assert raised.value.status == 503


def broken(exchange):
    raise GatewayError(502, "upstream_error", "It broke.")


def test_what_the_vendor_has_not_taken_is_forgotten():
    store = ResponseRows()
    send(store, piece(), status=400)
    with pytest.raises(GatewayError, match="It broke"):
        keep_upload(kept(store))(piece(), broken)
    assert len(store.rows) == 1, "that the upload has begun"
