"""A plan becomes one application: its routes, their stages in order, and its pages."""

import json

import pytest
import yaml

from tests.support.project_app import TOKEN, ProjectApp
from tests.support.rehearsing import CONFIG

TURNS = [{"role": "user"}]


def test_a_request_of_a_route_goes_to_its_upstream(tmp_path):
    built = ProjectApp(tmp_path)
    assert built.chat(model="big", messages=TURNS).status_code == 200
    assert [request.url for request in built.requests] == ["http://main.test/base/v1/chat"]


def test_an_operation_without_a_route_is_not_found(tmp_path):
    built = ProjectApp(tmp_path)
    assert built.client.simulate_get("/v1/hidden", headers=TOKEN).status_code == 404
    assert built.requests == []


@pytest.mark.parametrize(
    ("headers", "body", "code"),
    [
        ({}, {"model": "x", "messages": [], "note": "n" * 2000}, "invalid_api_key"),
        (TOKEN, {"model": "x", "messages": [], "note": "n" * 2000}, "request_too_large"),
        (TOKEN, {"model": "x", "messages": []}, "array_below_min_length"),
        (TOKEN, {"model": "x", "messages": TURNS}, "model_not_found"),
        (TOKEN, {"model": "big", "messages": TURNS}, "model_not_allowed"),
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


@pytest.mark.parametrize(("console", "status"), [("true", 200), ("false", 404)])
def test_the_console_is_served_where_the_config_enables_it(tmp_path, console, status):
    built = ProjectApp(tmp_path, f"{CONFIG}console: {{enabled: {console}}}\n")
    assert built.client.simulate_get("/docs").status_code == status


def test_the_services_are_closed_with_the_application(tmp_path):
    closed = []
    ProjectApp(tmp_path, closing=[lambda: closed.append(True)]).app.close()
    assert closed == [True]


TRANSFORM = "transform: {request: {body: {prepend: {messages: [{role: system}]}}}}"


def test_a_transform_edits_a_request_between_its_model_and_its_limits(tmp_path):
    names = []

    def note(route, stages):
        names.extend(stage.__module__.rpartition(".")[2] for stage in stages)
        return stages

    config = yaml.safe_load(CONFIG)
    config.setdefault("policies", []).append(yaml.safe_load(TRANSFORM))
    built = ProjectApp(tmp_path, yaml.safe_dump(config), wrap_stages=note)
    assert built.chat(model="big", messages=TURNS).status_code == 200
    (sent,) = built.requests
    assert json.loads(sent.body)["messages"] == [{"role": "system"}, *TURNS]
    at = names.index("transform")
    assert names.index("select_model") < at < names.index("meter") < names.index("limit")


def test_an_answer_of_the_gateway_is_not_transformed(tmp_path):
    config = yaml.safe_load(CONFIG)
    edit = {"transform": {"response": {"header": {"set": {"x-a": "1"}}}}}
    config["policies"] = [edit]
    config["routes"] = [{"operation": "shop.hidden", "answer": "models"}]
    built = ProjectApp(tmp_path, yaml.safe_dump(config))
    response = built.client.simulate_get("/v1/hidden", headers=TOKEN)
    assert response.status_code == 200
    assert "x-a" not in response.headers
