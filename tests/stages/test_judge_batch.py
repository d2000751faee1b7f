"""The stage that judges batches: which requests have one, and what the upstream gets."""

import orjson
import pytest

from engine import dialects
from engine.exchange.exchange import Response
from engine.exchange.request_body import Body
from engine.exchange.spooled_body import spool
from engine.objects.batches.batch_requests import VendorRequest
from engine.stages.judge_batch import HEADER, judge_batch, refuse_pieces
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.recording import MULTIPART, multipart

OPENAI, ANTHROPIC, GEMINI = (
    dialects.get(name).batches for name in ("openai", "anthropic", "gemini")
)
LINE = {"custom_id": "a", "method": "POST", "url": "/v1/chat", "body": {"model": "m"}}


def judge(exchange, request, batch):
    """A judge for which the model m is the vendor's model v, and w breaks the document."""
    batch.models["v"] = "m"
    body = orjson.loads(request.body or b"{}")
    fault = GatewayError(400, "invalid_value", "It is wrong.", param="model")
    text = (request.body or b"").replace(b'"m"', b'"v"')
    return VendorRequest("/v1/chat", text, fault if body.get("model") == "w" else None)


def run(exchange, form, *, reports=False):
    """The response, and what the handler behind the stage gets."""
    seen = []

    def last(exchange):
        seen.append((bytes(exchange.body.buffer), exchange.objects, exchange.path))
        return Response(200, [])

    stage = judge_batch(form, judge, "token", ("u",), None, reports=reports)
    response = stage(exchange, last)
    exchange.end()
    return response, *seen[0]


def upload(*fields, on_disk=False):
    data = multipart(*fields)
    body = spool([data]) if on_disk else Body(data)
    return new_exchange(environ={"CONTENT_TYPE": MULTIPART}, body=body)


def fields(line=LINE, purpose=b"batch"):
    return ('name="purpose"', purpose), ('name="file"; filename="b"', orjson.dumps(line))


@each("on_disk", [False, True])
def test_a_file_for_batches_has_the_vendor_s_requests(on_disk):
    exchange = upload(*fields(), on_disk=on_disk)
    _, body, opened, _ = run(exchange, OPENAI)
    assert body == multipart(*fields({**LINE, "body": {"model": "v"}}))
    assert (opened.batch.upstreams, opened.batch.size) == (("u",), 1)
    names = [part.name for part in exchange.content.parts]
    assert names == ["purpose", "file"]


@each("purpose", [b"assistants", b"batch-output", b"b" * 2000])
def test_other_files_are_not_looked_at(purpose):
    sent = fields({}, purpose)
    _, body, opened, _ = run(upload(*sent), OPENAI)
    assert (body, opened) == (multipart(*sent), None)


@each(
    "sent",
    [
        (*fields(), ('name="purpose"', b"x")),
        (*fields(), ('name="file"; filename="c"', b"{}")),
        (('name="purpose"', b" Batch"),),
    ],
)
def test_a_form_that_may_be_read_differently_is_refused(sent):
    with pytest.raises(GatewayError) as raised:
        run(upload(*sent), OPENAI)
    assert raised.value.status == 400


def test_requests_that_break_the_document_are_reported_if_the_config_says_so():
    sent = fields({**LINE, "body": {"model": "w"}})
    response, body, _, _ = run(upload(*sent), OPENAI, reports=True)
    assert body == multipart(*sent)
    assert (HEADER, "1 of 1 requests break the document") in response.headers
    with pytest.raises(GatewayError, match="It is wrong"):
        run(upload(*sent), OPENAI)


def with_json(value, path="/", **variables):
    return new_exchange(
        path=path,
        variables=variables,
        environ={"CONTENT_TYPE": "application/json"},
        body=Body(orjson.dumps(value)),
        value=value,
        media_type="application/json",
    )


def test_requests_in_a_body_are_judged():
    exchange = with_json({"requests": [{"custom_id": "a", "params": {"model": "m"}}]})
    _, body, _, _ = run(exchange, ANTHROPIC)
    assert orjson.loads(body)["requests"][0]["params"] == {"model": "v"}
    assert exchange.content.value == orjson.loads(body)


def test_the_path_names_the_vendor_s_model():
    config = {"fileName": None, "requests": {"requests": [{"request": {"a": 1}}]}}
    path = "/models/m:batchGenerateContent"
    exchange = with_json({"batch": {"inputConfig": config}}, path, model=(8, 9))
    *_, seen = run(exchange, GEMINI)
    assert seen == "/models/v:batchGenerateContent"
    assert exchange.path == path, "the log has the caller's"


def test_requests_beside_a_file_are_judged_too():
    requests = {"requests": [{"request": {"model": "w"}}]}
    config = {"fileName": "files/a", "requests": requests}
    path = "/models/m:batchGenerateContent"
    with pytest.raises(GatewayError, match="It is wrong"):
        run(with_json({"batch": {"inputConfig": config}}, path, model=(8, 9)), GEMINI)


def test_pieces_of_batches_are_refused():
    stage = refuse_pieces(OPENAI)
    with pytest.raises(GatewayError, match="in parts"):
        stage(with_json({"purpose": "batch"}), lambda exchange: Response(200, []))
    assert stage(with_json({"purpose": "x"}), lambda exchange: Response(200, [])).status == 200
