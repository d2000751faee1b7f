"""The stages of a route, in their order."""

import json

import pytest
import yaml

from tests.support.project_app import TOKEN, ProjectApp
from tests.support.rehearsing import CONFIG

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

    config = yaml.safe_load(CONFIG)
    config.setdefault("policies", []).append(yaml.safe_load(TRANSFORM))
    built = ProjectApp(tmp_path, yaml.safe_dump(config), wrap_stages=note)
    assert built.chat(model="big", messages=TURNS).status_code == 200
    (upstream_request,) = built.requests
    assert json.loads(upstream_request.body)["messages"] == [{"role": "system"}, *TURNS]
    at = names.index("transform")
    assert names.index("select_model") < names.index("validate", 4) < at < names.index("meter")
    assert names[-1] == "limit"


def test_an_answer_of_the_gateway_is_not_transformed(tmp_path):
    config = yaml.safe_load(CONFIG)
    edit = {"transform": {"response": {"header": {"set": {"x-a": "1"}}}}}
    config["policies"] = [edit]
    config["routes"] = [{"operation": "shop.hidden", "answer": "models"}]
    built = ProjectApp(tmp_path, yaml.safe_dump(config))
    response = built.client.simulate_get("/v1/hidden", headers=TOKEN)
    assert response.status_code == 200
    assert "x-a" not in response.headers
