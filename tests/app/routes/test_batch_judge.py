"""A request of a batch is judged as its operation would: on a small gateway, in this process."""

from functools import partial

import orjson
import pytest

from engine.app.routes.batch_judge import BatchJudge
from engine.app.routes.route_handler import judging_stages
from engine.app.routes.worker_parts import identity, parts_of
from engine.app.services.machine_stores import open_shared
from engine.app.services.worker_services import services_of
from engine.edge.inside_call import InsideCalls
from engine.exchange.opened_ids import Batch, Holder
from engine.objects.batches.batch_requests import BatchRequest
from engine.objects.sealed_ids import Identity, Sealer, owner_of
from engine.plan.assembly.make_plan import make_plan
from engine.upstream.client.client import Client
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange

KEY = "0123456789abcdef" * 2
CONFIG = f"""
version: 1
objects: {{key: {KEY}}}
specs: {{v: {{document: v.yaml, dialect: openai}}}}
upstreams:
  one: {{url: "http://127.0.0.1:9/v1", dialect: openai}}
  two: {{url: "http://127.0.0.1:9/base/v1", dialect: openai}}
  claude: {{url: "http://127.0.0.1:9/v1", dialect: anthropic}}
models:
  m: {{to: [{{upstream: one, model: vendor-m}}]}}
  both: {{to: [{{upstream: two}}, {{upstream: one}}]}}
  only-two: {{to: [{{upstream: two}}]}}
  same: {{to: [{{upstream: one, model: vendor-m}}]}}
  translated: {{to: [{{upstream: claude}}]}}
routes:
  - operation: v.createChatCompletion
    model: $request.body#/model
    policies: [{{deny: {{if: {{body: {{n: {{minimum: 2}}}}}}}}}}]
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: V, version: "1"}
servers: [{url: /v1}]
paths:
  /chat/completions:
    post:
      operationId: createChatCompletion
      x-modelway-objects: {names: {file: "body#/file_id"}}
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [model, messages]
              properties:
                model: {type: string}
                messages: {type: array}
                n: {type: integer}
                file_id: {type: string}
      responses: {"200": {description: An answer}}
security: [{bearer: []}]
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
"""
URL = "/v1/chat/completions"


@pytest.fixture
def judge(tmp_path):
    (tmp_path / "v.yaml").write_text(DOCUMENT)
    path = tmp_path / "gateway.yaml"
    path.write_text(CONFIG)
    result = make_plan(path, {})
    assert result.plan is not None, result.problems
    plan = result.plan
    parts = parts_of(
        plan, services_of(plan), Client, open_shared(plan.config), identity, InsideCalls()
    )
    dialect = plan.routes[0].dialects[-1]
    return BatchJudge(dialect, parts, str, partial(judging_stages, parts=parts))


def judged(judge, url=URL, *, caller=None, batch=None, **body):
    exchange = new_exchange(path="/v1/files", mount="/v1", caller=caller or Caller("ann"))
    request = BatchRequest(url, orjson.dumps({"model": "m", "messages": [], **body}))
    batch = batch or Batch(("one", "two"))
    return judge(exchange, request, batch), batch


def refusal(judge, *arguments, **options):
    with pytest.raises(GatewayError) as raised:
        judged(judge, *arguments, **options)
    return raised.value


def test_a_model_has_its_name_at_the_upstream_of_the_batch(judge):
    request, batch = judged(judge)
    assert (request.url, orjson.loads(request.body)["model"]) == (URL, "vendor-m")
    assert (batch.upstreams, batch.models) == (("one",), {"vendor-m": "m"})


def test_the_first_request_chooses_the_upstream(judge):
    request, batch = judged(judge, "/chat/completions", model="only-two")
    assert request.url == "/base/v1/chat/completions"
    judged(judge, model="both", batch=batch)
    assert batch.upstreams == ("two",)
    assert refusal(judge, batch=batch).code == "model_of_another_upstream"


@each(
    ("caller", "options", "code"),
    [
        (Caller("a", operations=("v.createFile",)), {}, "operation_not_allowed"),
        (Caller("a", models=("both",)), {}, "model_not_allowed"),
        (Caller("a"), {"model": "none"}, "model_not_found"),
        (Caller("a"), {"model": "translated"}, "model_of_another_upstream"),
        (Caller("a"), {"url": "/v1/files"}, "invalid_value"),
        (Caller("a"), {"url": "/v1/x/../chat/completions"}, "invalid_value"),
        (Caller("a"), {"url": f"{URL}?a=b"}, "invalid_value"),
        (Caller("a"), {"n": 2}, "request_denied"),
        (Caller("a"), {"file_id": "file-abc"}, "not_found"),
    ],
)
def test_what_its_caller_may_not_ask_for_is_refused(judge, caller, options, code):
    assert refusal(judge, caller=caller, **options).code == code


def test_two_names_of_one_model_could_not_be_told_apart_in_results(judge):
    _, batch = judged(judge)
    assert "also calls 'm'" in refusal(judge, model="same", batch=batch).message


def test_a_request_that_breaks_the_document_has_a_fault(judge):
    request, _ = judged(judge, messages="x")
    assert request.fault.param == "messages"


def test_ids_of_objects_are_opened_and_choose_the_upstream(judge):
    ann = Caller("ann")
    sealer = Sealer([KEY], ["one", "two"])
    sealed = [
        sealer.seal(Identity("file-7", Holder(name), owner_of(ann, "token")), "file")
        for name in ("one", "two")
    ]
    request, batch = judged(judge, model="both", file_id=sealed[0])
    assert orjson.loads(request.body)["file_id"] == "file-7"
    assert batch.upstreams == ("one",)
    error = refusal(judge, model="both", file_id=sealed[1], batch=batch)
    assert error.code == "objects_of_two_upstreams"
    assert refusal(judge, caller=Caller("bob"), file_id=sealed[0]).code == "not_found"
