"""The stages of a route, in their order."""

import json

import pytest
import yaml

from engine.app.routes.route_handler import checks_left
from engine.edge.body_reader import RequestBodyReader
from engine.offline.rehearsal.observation import request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.stand_ins import RecordingCounters
from engine.plan.assembly.make_plan import make_plan
from engine.spec.bodies.request_bodies import Bodies
from engine.stages import validate
from engine.values.caller import Caller
from tests.support import yaml_text
from tests.support.paths import ROOT
from tests.support.project_app import TOKEN, ProjectApp
from tests.support.rehearsing import CONFIG, planned

TURNS = [{"role": "user"}]


@pytest.mark.parametrize(
    ("headers", "body", "code"),
    [
        ({}, {"model": "x", "messages": [], "note": "n" * 2000}, "invalid_api_key"),
        (TOKEN, {"model": "x", "messages": [], "note": "n" * 2000}, "request_too_large"),
        (TOKEN, {"model": "x", "messages": []}, "model_not_found"),
        (TOKEN, {"model": "big", "messages": []}, "model_not_allowed"),
        (TOKEN, {"model": "small", "messages": []}, "array_below_min_length"),
    ],
)
def test_of_several_mistakes_the_first_stage_answers(tmp_path, headers, body, code):
    config = CONFIG.replace('[big, small, "wild-*"]', "[small]")
    assert ProjectApp(tmp_path, config).chat(headers, **body).json["error"]["code"] == code


BY_HEAD = {"received": 0, "parsed": 0, "validated": 0}
BY_MODEL = {"received": 1, "parsed": 1, "validated": 0}
BY_SCHEMA = {"received": 1, "parsed": 1, "validated": 1}


@pytest.fixture
def work(monkeypatch):
    """How often a body was received, parsed and compared with its schema."""
    done = dict.fromkeys(BY_HEAD, 0)

    def count(word, holder, name):
        original = getattr(holder, name)

        def counted(*arguments):
            done[word] += 1
            return original(*arguments)

        monkeypatch.setattr(holder, name, counted)

    count("received", RequestBodyReader, "receive")
    count("parsed", Bodies, "parse")
    count("validated", validate, "check")
    return done


FINE = {"model": "big", "messages": TURNS}


@pytest.mark.parametrize(
    ("more", "headers", "body", "code", "expected"),
    [
        ("", {}, FINE, "invalid_api_key", BY_HEAD),
        (", operations: [shop.show]", TOKEN, FINE, "operation_not_allowed", BY_HEAD),
        (", ips: [10.0.0.0/8]", TOKEN, FINE, "address_not_allowed", BY_HEAD),
        ("", TOKEN, FINE | {"policy": "allow_ips: [10.0.0.0/8]"}, "address_not_allowed", BY_HEAD),
        ("", TOKEN, FINE | {"policy": "allow_operations: [a.*]"}, "operation_not_allowed", BY_HEAD),
        (", models: [small]", TOKEN, FINE, "model_not_allowed", BY_MODEL),
        ("", TOKEN, FINE | {"model": "nobody"}, "model_not_found", BY_MODEL),
        ("", TOKEN, FINE | {"policy": "allow_models: [small]"}, "model_not_allowed", BY_MODEL),
        ("", TOKEN, FINE | {"messages": []}, "array_below_min_length", BY_SCHEMA),
    ],
)
def test_a_refusal_costs_no_more_than_it_needs(tmp_path, work, more, headers, body, code, expected):
    policy = body.get("policy", "max_body: 1KB")
    config = CONFIG.replace("rate: 5/1h", f"rate: 5/1h{more}").replace("max_body: 1KB", policy)
    response = ProjectApp(tmp_path, config).chat(headers, **{k: body[k] for k in FINE})
    assert (response.json["error"]["code"], work) == (code, expected)


@pytest.mark.parametrize(
    ("more", "model", "code"),
    [(", models: [small]", "big", "model_not_allowed"), ("", "nobody", "model_not_found")],
)
def test_a_large_body_is_not_even_parsed_to_refuse_its_model(tmp_path, work, more, model, code):
    config = CONFIG.replace("rate: 5/1h", f"rate: 5/1h{more}").replace(
        "max_body: 1KB", "max_body: 1MB"
    )
    built = ProjectApp(tmp_path, config)
    for size, parsed in ((100, 1), (100_000, 1)):
        refused = built.chat(model=model, messages=TURNS, note="n" * size)
        assert (refused.json["error"]["code"], work["parsed"]) == (code, parsed)
    assert work["received"] == 2
    allowed = built.chat(model="small", messages=TURNS, note="n" * 100_000)
    assert allowed.status_code == 200


@pytest.mark.parametrize(
    ("more", "model", "code"),
    [(", models: [small]", "big", "model_not_allowed"), ("", "nobody", "model_not_found")],
)
def test_a_model_in_the_path_is_refused_before_the_body_is_received(
    tmp_path, work, more, model, code
):
    built = ProjectApp(tmp_path, CONFIG.replace("rate: 5/1h", f"rate: 5/1h{more}"))
    path = f"/v1/models/{model}:say"
    refused = built.client.simulate_post(path, json={}, headers=TOKEN)
    assert (refused.json["error"]["code"], work) == (code, BY_HEAD)
    served = built.client.simulate_post(path.replace(model, "small"), json={}, headers=TOKEN)
    assert (served.status_code, work) == (200, BY_SCHEMA)


@pytest.mark.parametrize(
    ("limit", "takes"),
    [
        ("rate_limit: {requests: 1, per: 1h}", 1),
        ("concurrency: {requests: 1}", 1),
        ("rate_limit: {requests: 1, per: 1h, by: all}", 1),
        ("rate_limit: {requests: 1, per: 1h}\n  - token_budget: {tokens: 9000, per: 1h}", 2),
        ("token_budget: {tokens: 9000, per: 1h}", 1),
    ],
)
def test_the_limits_of_a_request_are_taken_once_or_at_two_moments(tmp_path, limit, takes):
    config = CONFIG.replace("rate_limit: {requests: 60, per: 1m}", limit)
    plan = planned(tmp_path, config.replace(", rate: 5/1h", "")).plan
    taken = []

    class Counting(RecordingCounters):
        def take(self, limits, costs):
            taken.append([limit.key.partition("/")[0] for limit in limits])
            return super().take(limits, costs)

    chat = request("POST", "/v1/chat", (), json.dumps(FINE).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.offline.rehearsal.rehearse.RecordingCounters", Counting)
        assert rehearse(plan, chat, Caller("alice")).status == 200
    assert len(taken) == takes


def test_a_request_over_its_rate_is_refused_before_its_body_is_received(tmp_path, work):
    config = CONFIG.replace("rate: 5/1h", "rate: 1/1h, concurrency: 3")
    built = ProjectApp(tmp_path, config)
    assert built.chat(**FINE).status_code == 200
    assert work == BY_SCHEMA
    refused = built.chat(**FINE)
    assert refused.json["error"]["code"] == "rate_limit_exceeded"
    assert work == BY_SCHEMA


def test_the_stages_of_a_route_can_be_wrapped(tmp_path):
    routes = []

    def count(route, stages):
        def stage(exchange, following):
            routes.append(route.operation.name)
            return following(exchange)

        return [stage, *stages]

    built = ProjectApp(tmp_path, wrap_stages=count)
    built.client.simulate_get("/v1/items/7")
    assert routes == ["show"]


TRANSFORM = "transform: {request: {body: {prepend: {messages: [{role: system}]}}}}"


def test_a_transform_edits_a_request_between_its_model_and_its_limits(tmp_path):
    names = []

    def note(route, stages):
        if route.model is not None:
            names.extend(stage.__module__.rpartition(".")[2] for stage in stages)
        return stages

    config = yaml_text.load(CONFIG)
    config.setdefault("policies", []).append(yaml_text.load(TRANSFORM))
    built = ProjectApp(tmp_path, yaml.safe_dump(config), wrap_stages=note)
    assert built.chat(model="big", messages=TURNS).status_code == 200
    (upstream_request,) = built.requests
    assert json.loads(upstream_request.body)["messages"] == [{"role": "system"}, *TURNS]
    at = names.index("transform")
    assert names.index("select_model") < names.index("validate", 4) < at < names.index("meter")
    assert names[-1] == "limit"


def test_an_answer_of_the_gateway_is_not_transformed(tmp_path):
    config = yaml_text.load(CONFIG)
    edit = {"transform": {"response": {"header": {"set": {"x-a": "1"}}}}}
    config["policies"] = [edit]
    config["routes"] = [{"operation": "shop.hidden", "answer": "models"}]
    built = ProjectApp(tmp_path, yaml.safe_dump(config))
    response = built.client.simulate_get("/v1/hidden", headers=TOKEN)
    assert response.status_code == 200
    assert "x-a" not in response.headers


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ("", ("off", False)),
        ("    validate: lenient\n", ("off", False)),
        ("    validate: report\n", ("report", True)),
        ("    unknown_fields: reject\n", ("strict", True)),
    ],
)
def test_what_is_left_to_check_of_a_judged_request(tmp_path, more, left):
    config = CONFIG.replace("operation: shop.chat\n", f"operation: shop.chat\n{more}")
    assert more in config
    plan = planned(tmp_path, config).plan
    chat = next(route for route in plan.routes if route.operation.name == "chat")
    checks = checks_left(chat)
    assert (checks.mode, bool(checks.parameters)) == left
    assert (checks.bodies is None) is (checks.mode == "off")


def test_bodies_whose_members_have_two_spellings_are_parsed(tmp_path):
    document = ROOT / "openapi/gemini.yaml"
    config = f"""version: 1
specs: {{gemini: {{document: "{document}", dialect: gemini}}}}
upstreams: {{main: {{url: "http://127.0.0.1:9", dialect: gemini}}}}
routes: [{{operation: gemini.countTokens, to: [{{upstream: main}}]}}]
"""
    (tmp_path / "gateway.yaml").write_text(config)
    result = make_plan(tmp_path / "gateway.yaml", {})
    assert result.plan is not None, result.findings.errors
    checks = checks_left(result.plan.routes[0])
    assert checks.bodies is not None
