"""Planning: every name resolved, every path where it will be served."""

import sys
from pathlib import Path

import pytest

from benchmarks.growth import configs as growth
from engine.config import providers
from engine.config.routes import WebSocket
from engine.plan.assembly.make_plan import make_plan
from engine.source import files
from engine.source.problem import Level
from engine.spec.security import Carrier
from tests.support.paths import ROOT

MAX_CALLS = 500_000
"""Calls of Python functions in which the shipped project is planned: 385,000 when this was written,
which is half a second of CPU."""

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "https://example.com/v1/"}]
security: [{key: []}, {token: []}]
paths:
  /chat/{model}:
    post:
      operationId: chat
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {}
  /models: {get: {operationId: list, responses: {}}}
  /models/{name}:
    get:
      operationId: show
      parameters:
        - {name: X-KEY, in: header, required: true, schema: {type: string}}
        - {name: key, in: query, required: true, schema: {type: string}}
      responses: {}
  /live: {get: {operationId: live, responses: {"101": {description: switched}}}}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    token: {type: http, scheme: bearer}
"""
BASE = """version: 1
specs: {{shop: {{document: shop.yaml{spec}}}}}
upstreams: {{main: {{url: "http://1.1.1.1/v9"}}}}
models: {{m: {{to: [{{upstream: main}}]}}}}
policies: [{{max_body: 2MB}}]
routes:
  - operation: shop.chat
    model: {model}
    policies: [{{max_body: 1MB}}]
  - operations: [shop.list, shop.show]
    answer: models
  - {{operation: shop.live, to: [{{upstream: main}}], auth: none, validate: "off"}}
"""


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)


def make(spec="", model="$request.body#/model"):
    return make_plan(Path("gateway.yaml"), {}, BASE.format(spec=spec, model=model))


def routes(spec="", model="$request.body#/model"):
    planned = make(spec, model)
    assert planned.plan is not None, planned.problems
    return {route.operation.name: route for route in planned.plan.routes}


def test_paths_stand_under_the_path_of_the_server_url():
    assert routes()["chat"].templates == [("/v1/chat/{model}", "/v1")]


def test_routes_with_equal_parts_share_them():
    all_routes = routes()
    first, second, live = (all_routes[name] for name in ("list", "show", "live"))
    for part in ("dialects", "guards", "policies", "carriers", "takes"):
        assert getattr(first, part) is getattr(second, part)
    for part in ("mounts", "method", "carriers", "bodies"):
        assert getattr(first.operation, part) is getattr(live.operation, part)
    assert first.dialects is not live.dialects
    assert all_routes["chat"].guards is not live.guards


def test_mounts_stand_in_for_the_path_of_the_server_url():
    values = routes(", mount: [/a, /b/c]")["chat"].templates
    assert values == [("/a/chat/{model}", "/a"), ("/b/c/chat/{model}", "/b/c")]


def test_the_token_is_where_the_document_says():
    assert routes()["chat"].carriers == (
        Carrier("header", "x-key"),
        Carrier("bearer", "authorization"),
    )


def test_the_token_is_where_the_config_says_instead():
    values = routes(", token: [{query: key}, {cookie: c}, bearer]")["chat"].carriers
    assert [tuple(carrier) for carrier in values] == [
        ("query", "key"),
        ("cookie", "c"),
        ("bearer", "authorization"),
    ]


def test_a_parameter_in_which_callers_send_their_token_is_none_of_the_operation():
    names = [parameter.name for parameter in routes()["show"].operation.parameters]
    assert names == ["key"]
    values = routes(", token: [{query: key}]")["show"].operation.parameters
    assert [parameter.name for parameter in values] == ["X-KEY"]


def test_a_variable_that_names_the_model_may_hold_slashes():
    assert routes(model="$request.path.model")["chat"].slash_variables == ("model",)
    assert routes()["chat"].slash_variables == ()
    assert routes()["show"].slash_variables == ("name",)
    assert routes()["list"].slash_variables == ()


def test_the_default_model_is_known():
    model = "{from: $request.body#/model, default: m}"
    assert routes(model=model)["chat"].default_model == "m"


def test_policies_of_every_route_come_before_those_of_one():
    assert [p.options for p in routes()["chat"].policies] == ["2MB", "1MB"]
    assert [p.options for p in routes()["list"].policies] == ["2MB"]


def test_a_list_of_models_belongs_to_all_dialects_its_own_last():
    names = [d.name for d in routes(", dialect: openai")["list"].dialects]
    assert (set(names[:-1]), names[-1]) == ({"anthropic", "bedrock", "gemini", "plain"}, "openai")
    assert [d.name for d in routes(", dialect: openai")["chat"].dialects] == ["openai"]


def test_an_operation_answered_with_101_is_a_websocket():
    live = routes()["live"]
    assert (live.websocket, live.allows_anonymous, live.validate) == (WebSocket(), True, "off")
    assert routes()["list"].websocket is None


def test_a_plan_opens_no_file_but_those_it_names(tmp_path):
    planned = make()
    assert set(planned.texts) == {"gateway.yaml", "shop.yaml"}


def test_a_relative_config_shows_its_documents_relative_to_where_we_are(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/gateway.yaml").write_text(BASE.format(spec="", model="$request.body#/m"))
    (tmp_path / "deep/shop.yaml").write_text(DOCUMENT.replace("/models/{name}", "models"))
    planned = make_plan(Path("deep/gateway.yaml"), {})
    assert "deep/shop.yaml" in {p.file for p in planned.problems if p.level is Level.WARNING}


def test_the_shipped_config_has_a_plan_without_errors_and_warnings():
    planned = make_plan(files.CONFIG, {})
    assert [p for p in planned.problems if p.level is not Level.INFO] == []
    assert planned.plan is not None


def test_the_shipped_config_serves_every_operation_of_the_issue():
    planned = make_plan(files.CONFIG, {})
    paths_of = {r.operation.id: [t for t, _ in r.templates] for r in planned.plan.routes}
    openai = "createChatCompletion createCompletion createEmbedding createImage createImageEdit "
    openai += "createTranscription createSpeech createResponse createModeration "
    openai += "connectRealtime createRealtimeClientSecret listModels retrieveModel"
    gemini = "generateContent streamGenerateContent countTokens embedContent batchEmbedContents "
    gemini += "listModels getModel"
    expected = [f"openai.{name}" for name in openai.split()]
    expected += ["anthropic.createMessage", "anthropic.countTokens"]
    expected += [f"gemini.{name}" for name in gemini.split()]
    assert set(expected) <= set(paths_of)
    assert paths_of["rerank.rerank"] == ["/v1/rerank", "/v2/rerank"]
    assert [
        name for name, paths in paths_of.items() if any(p.startswith("/v2/") for p in paths)
    ] == ["rerank.rerank"]
    assert paths_of["anthropic.createMessage"] == ["/v1/messages"]
    assert paths_of["gemini.generateContent"] == [
        f"{mount}/models/{{model}}:generateContent" for mount in ("/v1beta", "/v1", "/v1alpha")
    ]


def test_two_plans_of_one_file_are_alike():
    first, second = make_plan(files.CONFIG, {}), make_plan(files.CONFIG, {})
    assert [str(p) for p in first.problems] == [str(p) for p in second.problems]
    assert [r.operation.id for r in first.plan.routes] == [
        r.operation.id for r in second.plan.routes
    ]


def calls_to_plan(file):
    """The calls of Python functions in which a config without errors is planned."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    previous = sys.getprofile()
    sys.setprofile(count)
    try:
        planned = make_plan(file, {"KEY": "upstream-key"})
    finally:
        sys.setprofile(previous)
    assert planned.plan is not None
    return calls


def test_the_shipped_project_is_planned_in_a_bounded_number_of_calls():
    assert 50_000 < calls_to_plan(ROOT / "gateway.yaml") < MAX_CALLS


def test_calls_grow_in_proportion_to_models_routes_and_upstreams(tmp_path):
    calls = []
    for number in (10, 100, 200, 300):
        folder = tmp_path / str(number)
        folder.mkdir()
        size = growth.Size(models=number, routes=number, upstreams=number, tokens=0)
        calls.append(calls_to_plan(growth.write(folder, size, upstream=1, port=1, telemetry=2)))
    _, few, more, most = calls
    assert most - more < 1.05 * (more - few)


def test_files_of_providers_are_read_only_for_upstreams_that_name_them():
    providers.read.cache_clear()
    make_plan(files.CONFIG, {})
    assert providers.read.cache_info().misses == 0
