"""Batches whose requests are in a file: read where it is kept, and written again if edited."""

import orjson
import pytest

from engine import dialects
from engine.exchange.opened_ids import Batch, Holder, Upload
from engine.exchange.request_body import Body
from engine.objects.batches.batch_files import BatchFiles
from engine.objects.batches.batch_requests import BatchWriter, VendorRequest
from engine.objects.batches.batch_uploads import BatchUploads, UploadPiece
from engine.objects.id_opener import IdOpener
from engine.objects.sealed_ids import Identity, Sealer, owner_of
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.response_rows import ResponseRows

SEALER = Sealer(["a key for tests " * 4], ["u"])
HOLDER, ANN = Holder("u", 1), Caller("ann")
FILE = Identity("files/1", HOLDER, owner_of(ANN, "token"))
FORM = dialects.get("gemini").batches
LINES = b'{"key": "a", "request": {"contents":1}}\n{"key": "b", "request": {"contents":2}}\n'


def judge(change=b"1", *, name=None, caller=ANN, lines=LINES, uploads=True, missing=0):
    """The name of the file in the body behind, the batch, and what was uploaded."""
    known = BatchUploads(ResponseRows(), SEALER, lambda: 0.0)
    address = Upload(FILE.owner, "mwaddress")
    known.keep(UploadPiece(address, 0, lambda: [lines]))
    known.finish(address, HOLDER, "files/1", len(lines) + missing)
    uploaded = []

    def upload(exchange, body, to):
        uploaded.append((b"".join(body.chunks()), to))
        return "files/mwnew"

    def judge_request(request, batch):
        if b"7" in request.body:
            raise GatewayError(400, "invalid_value", "It is 7.", param="contents")
        return VendorRequest("", request.body.replace(b"1", change))

    opener = IdOpener(SEALER, everybody=False, passes=True)
    files = BatchFiles(known if uploads else None, opener, "token", upload)
    value = {"batch": {"fileName": SEALER.seal(FILE, "file") if name is None else name}}
    text = Body(orjson.dumps(value))
    exchange = new_exchange(caller=caller, body=text, value=value)
    batch = Batch(("u", "v"))
    form = FORM._replace(name=FORM.stored_name)
    writer = BatchWriter(form, batch, judge_request, lambda: None)
    files.judge(exchange, ("batch", "fileName"), batch, writer)
    exchange.end()
    assert orjson.loads(exchange.body.buffer) == exchange.content.value
    return exchange.content.value["batch"]["fileName"], batch, uploaded


def test_a_file_that_needs_no_edits_stays():
    name, batch, uploaded = judge()
    assert (name, uploaded) == (SEALER.seal(FILE, "file"), [])
    assert (batch.holder, batch.size) == (HOLDER, 2)


@each("change", [b"9", b"12345"])
def test_a_file_with_edits_is_another_file_where_the_first_one_is(change):
    name, _, uploaded = judge(change)
    assert name == "files/mwnew"
    assert uploaded == [(LINES.replace(b"1", change), HOLDER)]


def test_each_request_that_cannot_be_made_is_named():
    with pytest.raises(GatewayError, match=r"Line 2 \(key 'b', request.contents\): It is 7"):
        judge(lines=LINES.replace(b"2", b"7"))


@each(
    ("changes", "status"),
    [
        ({"uploads": False}, 400),
        ({"missing": 1}, 400),
        ({"name": "files/vendors"}, 400),
        ({"name": 7}, 400),
        ({"name": SEALER.seal(FILE._replace(vendor_id="files/2"), "file")}, 400),
        ({"caller": Caller("bob")}, 404),
        ({"name": SEALER.seal(FILE, "batch")}, 404),
    ],
)
def test_a_file_that_nobody_can_judge_is_no_batch(changes, status):
    with pytest.raises(GatewayError) as raised:
        judge(**changes)
    assert raised.value.status == status
    assert ("has not kept it" in raised.value.message) == (status == 400)
