"""A route as a value, and the result of planning."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.config.schema_check import gateway_validator
from engine.plan.assembly.make_plan import make_plan
from engine.plan.route import PlanResult
from tests.test_staircase import ENGINE

DOCUMENT = """
openapi: 3.1.0
info: {title: Chat, version: "1"}
servers: [{url: "https://example.com/v1"}]
paths:
  /chat/completions: {post: {operationId: chat, requestBody: {content: {application/json: {}}}}}
  /embeddings: {post: {operationId: embed, requestBody: {content: {application/json: {}}}}}
  /models: {get: {operationId: list}}
  /live: {get: {operationId: live, responses: {"101": {description: switched}}}}
"""
CONFIG = """version: 1
specs: {api: {document: api.yaml, dialect: openai, mount: [/v1, /other]}}
upstreams: {main: {url: "http://1.1.1.1/v1", dialect: openai}}
models: {m: {to: [{upstream: main}]}}
routes:
  - {operations: [api.chat, api.embed], model: $request.body#/model}
  - {operation: api.list, answer: models}
  - {operation: api.live, to: [{upstream: main}]}
"""


@pytest.fixture
def routes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(DOCUMENT)
    planned = make_plan(Path("gateway.yaml"), {}, CONFIG)
    assert planned.plan is not None, planned.problems
    return {route.operation.name: route for route in planned.plan.routes}


@pytest.mark.parametrize(
    ("name", "language"), [("chat", "chat_completions"), ("embed", "embeddings"), ("live", "")]
)
def test_an_operation_that_may_be_translated_names_its_language(routes, name, language):
    assert routes[name].by_model.language == language


def test_an_operation_by_model_is_named_by_its_document(routes):
    operation = routes["chat"].by_model
    assert (operation.id, operation.dialect) == ("api.chat", "openai")
    assert operation.path == "/chat/completions"


@pytest.mark.parametrize(
    ("name", "destination"),
    [
        ("chat", "by model"),
        ("list", "by the gateway (models)"),
        ("live", "to fixed targets"),
    ],
)
def test_the_destination_in_words(routes, name, destination):
    assert routes[name].destination == destination


def test_an_operation_is_served_under_each_mount(routes):
    assert routes["list"].templates == [("/v1/models", "/v1"), ("/other/models", "/other")]


def test_the_hash_depends_on_paths_and_contents_and_not_on_their_order():
    one, two = Path("a.yaml"), Path("b.yaml")
    ab = PlanResult(files={one: "1", two: "2"})
    assert ab.hash == PlanResult(files={two: "2", one: "1"}).hash
    assert ab.hash != PlanResult(files={one: "2", two: "1"}).hash
    assert len(ab.hash) == 12


def test_a_served_plan_has_no_texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(DOCUMENT)
    plan = make_plan(Path("gateway.yaml"), {}, CONFIG).plan
    document = plan.specifications["api"].library.documents[0]
    assert plan.config.source.text
    assert document.text
    validator = gateway_validator()
    served = plan.served()
    assert gateway_validator() is not validator
    assert (served.config.source.text, served.config.source.value, document.text) == ("", None, "")
    assert served.config.routes == ()
    assert served.routes == plan.routes
    assert document.value["openapi"] == "3.1.0"


def test_what_serves_does_not_read_the_routes_of_the_config():
    """A served plan has none there."""
    planning = ("config", "plan", "offline", "cli")
    readers = [
        path.relative_to(ENGINE).as_posix()
        for path in ENGINE.rglob("*.py")
        if path.relative_to(ENGINE).parts[0] not in planning
        and re.search(r"(?<!engine\.)config\.routes", path.read_text())
    ]
    assert readers == []


def test_a_plan_has_the_operations_of_its_models_until_it_has_other_models(routes):
    plan = make_plan(Path("gateway.yaml"), {}, CONFIG).plan
    assert plan is not None
    assert plan.model_operations() is plan.served().model_operations()
    other = {"other": replace(plan.config.models["m"], name="other")}
    changed = replace(plan, config=replace(plan.config, models=other))
    assert len(changed.model_operations().of("other")) == 2
    config = replace(plan.config, upstreams=dict(plan.config.upstreams))
    assert replace(plan, config=config).model_operations() is not plan.model_operations()
