"""Routes with the same steps share one handler; routes that differ in a setting do not."""

import json

import pytest
import yaml
from falcon.testing import TestClient
from msgspec.structs import replace

from engine.app.build import build
from engine.app.routes.route_handler import handler_of, responder_of
from engine.app.routes.stage_cache import StageCache
from engine.app.routes.worker_parts import identity, parts_of
from engine.app.services.worker_services import services_of
from engine.edge.inside_call import InsideCalls
from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.stand_ins import placeholder, recorder
from engine.stages.report import mismatches
from engine.values.caller import digest
from tests.support.rehearsing import planned

TURNS = [{"role": "user"}]
TOKEN = {"Authorization": "Bearer mw-secret-of-x"}
CHAT = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Chat"}}},
    },
    "responses": {"200": {"description": "ok"}},
}
HEADER = {"name": "x-note", "in": "header", "schema": {"type": "string"}}
SCHEMA = {"required": ["messages"], "properties": {"model": {"type": "string"}, "messages": {}}}
BY_MODEL = {"model": "$request.body#/model"}
TO = {"to": [{"upstream": "main"}]}


def document(a=None, b=None, path_b="/b", method_b="post"):
    """Two operations that differ only in their paths, unless `a` or `b` has more."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "/v1"}],
        "paths": {
            "/a": {"post": {"operationId": "a", **CHAT, **(a or {})}},
            path_b: {method_b: {"operationId": "b", **CHAT, **(b or {})}},
        },
        "components": {"schemas": {"Chat": {"type": "object", **SCHEMA}}},
    }


def config(a, b, **more):
    """The routes of two operations."""
    return {
        "version": 1,
        "specs": {"shop": {"document": "shop.yaml", "dialect": "openai"}},
        "upstreams": {
            name: {"url": f"http://{name}.test/v1", "credential": {"bearer": "${MAIN_KEY}"}}
            for name in ("main", "spare")
        },
        "models": {"big": {"to": [{"upstream": "main"}]}},
        "routes": [{"operation": "shop.a", **a}, {"operation": "shop.b", **b}],
        "tokens": [{"name": "x", "sha256": digest("mw-secret-of-x")}],
        **more,
    }


class Project:
    """The plan of two routes, and their application."""

    def __init__(self, folder, a=BY_MODEL, b=BY_MODEL, of_document=None, **more):
        text = yaml.safe_dump(of_document or document())
        self.plan = planned(folder, yaml.safe_dump(config(a, b, **more)), text).plan
        self.requests, self.exchanges = [], []
        self.services = replace(services_of(self.plan), observers=[self.exchanges.append])
        self.client = recorder(self.requests, UpstreamAnswers())

    def parts(self, wrap_stages=identity):
        return parts_of(
            *(self.plan, self.services, self.client, placeholder, wrap_stages, InsideCalls())
        )

    @property
    def handlers(self):
        parts = self.parts()
        return [handler_of(route, parts) for route in self.plan.routes]

    @property
    def app(self):
        return TestClient(build(self.plan, self.services, client=self.client))

    def post(self, path, headers=TOKEN, **body):
        return self.app.simulate_post(f"/v1{path}", json=body, headers=headers)


@pytest.mark.parametrize(
    "settings",
    [
        BY_MODEL,
        TO,
        {"model": {"from": "$request.body#/model", "default": "big"}},
        {**TO, "choose": {"affinity": {"prompt": 100}}, "validate": "report"},
        {**BY_MODEL, "policies": [{"max_body": "1KB"}, {"allow_ips": ["127.0.0.1"]}]},
        {**TO, "policies": [{"deny": {"if": {"body": {"n": 1}}}}], "unknown_fields": "drop"},
        {**BY_MODEL, "policies": [{"allow_models": ["b*"]}, {"allow_operations": ["shop.*"]}]},
    ],
)
def test_routes_with_equal_settings_share_their_handler_and_responder(tmp_path, settings):
    project = Project(tmp_path, settings, settings)
    a, b = project.handlers
    assert a is b
    parts = project.parts()
    first, second = (responder_of(route, parts) for route in project.plan.routes)
    assert first is second


@pytest.mark.parametrize(
    "settings",
    [
        {"validate": "off"},
        {"validate": "report"},
        {"validate": "lenient"},
        {"validate_responses": "report"},
        {"unknown_fields": "drop"},
        {"auth": "none"},
        {"priority": "high"},
        {"hedge": {"after": "2s", "idempotent": True}},
        {"policies": [{"max_body": "1KB"}]},
        {"policies": [{"rate_limit": {"requests": 9, "per": "1m"}}]},
        {"policies": [{"deny": {"if": {"body": {"n": 1}}}}]},
        {"policies": [{"transform": {"request": {"header": {"set": {"x-a": "1"}}}}}]},
        {"model": "$request.header.x-model"},
        {"model": {"from": "$request.body#/model", "default": "big"}},
        {"model": {"from": "$request.header.x-model", "also": ["$request.body#/model"]}},
        {"model": None, **TO},
    ],
)
def test_a_route_with_another_setting_has_a_handler_of_its_own(tmp_path, settings):
    other = {key: value for key, value in {**BY_MODEL, **settings}.items() if value is not None}
    response = {"200": {"description": "ok", "content": {"application/json": {"schema": {}}}}}
    of_document = document({"responses": response}, {"responses": response})
    a, b = Project(tmp_path, BY_MODEL, other, of_document).handlers
    assert a is not b


@pytest.mark.parametrize(
    "settings",
    [
        {"to": [{"upstream": "spare"}]},
        {"to": [{"upstream": "main", "model": "m"}]},
        {"to": [{"upstream": "main", "weight": 2}]},
        {"to": [{"upstream": "main"}, {"upstream": "spare"}]},
        {"choose": "least_busy"},
        {"choose": {"affinity": "$request.header.session"}},
    ],
)
def test_a_route_to_other_targets_has_a_handler_of_its_own(tmp_path, settings):
    a, b = Project(tmp_path, TO, {**TO, **settings}).handlers
    assert a is not b


@pytest.mark.parametrize(
    "settings",
    [
        {**TO, "hedge": {"after": "p95", "idempotent": True}},
        {"to": [{"upstream": "main", "max_in_flight": 3}]},
    ],
)
def test_a_handler_with_state_of_its_route_is_never_shared(tmp_path, settings):
    a, b = Project(tmp_path, settings, settings).handlers
    assert a is not b


TRANSFORM = {"transform": {"request": {"body": {"set": {"messages": ["edited"]}}}}}


@pytest.mark.parametrize("more", [{"policies": [TRANSFORM]}, {"models": None}])
def test_routes_with_the_same_transforms_share_their_handler(tmp_path, more):
    if "models" in more:
        more = {"models": {"big": {"to": [{"upstream": "main"}], **TRANSFORM}}}
    project = Project(tmp_path, **more)
    a, b = project.handlers
    assert a is b
    for path in "ab":
        project.post(f"/{path}", model="big", messages=[])
    bodies = [json.loads(request.body) for request in project.requests]
    assert bodies == [{"model": "big", "messages": ["edited"]}] * 2


def test_routes_of_which_one_lacks_the_place_of_an_edit_do_not_share_it(tmp_path):
    edit = {"transform": {"request": {"body": {"default": {"n": 1}}}}}
    closed = {"type": "object", "additionalProperties": False, "properties": {"messages": {}}}
    with_n = closed | {"properties": {"messages": {}, "n": {}}}
    of_document = document(other_body(with_n), other_body(closed))
    project = Project(tmp_path, TO, TO, of_document, policies=[edit])
    a, b = project.handlers
    assert a is not b
    for path in "ab":
        project.post(f"/{path}", messages=[])
    assert [json.loads(request.body) for request in project.requests] == [
        {"messages": [], "n": 1},
        {"messages": []},
    ]


def test_the_operations_of_one_entry_share_their_policies_and_transforms(tmp_path):
    policies = [TRANSFORM, {"deny": {"if": {"header": {"x": "1"}}}}, {"allow_models": ["b*"]}]
    routes = [{"operation": "shop.*", **BY_MODEL, "policies": policies}]
    project = Project(tmp_path, routes=routes)
    a, b = project.handlers
    assert a is b
    assert project.plan.routes[0].guards is project.plan.routes[1].guards


def test_the_log_names_the_transforms_of_the_route(tmp_path, caplog):
    remove = {"policies": [{"transform": {"request": {"body": {"remove": ["messages"]}}}}]}
    schema = {"type": "object", "minProperties": 1, "properties": {"messages": {}}}
    of_document = document(other_body(schema), other_body(schema))
    app = Project(tmp_path, {**TO, **remove}, {**TO, **remove}, of_document).app
    for path in "ab":
        app.simulate_post(f"/v1/{path}", json={"messages": []}, headers=TOKEN)
    logged = [record.getMessage() for record in caplog.records if "breaks" in record.getMessage()]
    names = [message.split("breaks the document of ")[1].split(":")[0] for message in logged]
    assert names == [
        "shop.a after routes.0.policies.0.transform",
        "shop.b after routes.1.policies.0.transform",
    ]


def other_body(schema):
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


@pytest.mark.parametrize(
    ("of_document", "a", "b"),
    [
        (document(b={"parameters": [HEADER]}), TO, TO),
        (document(b=other_body({"type": "object"})), TO, TO),
        (document(b={"security": [{}]}, a={"security": []}), TO, {**TO, "auth": "none"}),
        (
            document(b={"responses": {"200": {"headers": {"x-b": {}}, "description": "ok"}}}),
            *(TO, TO),
        ),
        (
            document(b={"responses": {"101": {"description": "ok"}}}, method_b="get"),
            *(TO, TO),
        ),
        (document(path_b="/chat/completions"), BY_MODEL, BY_MODEL),
    ],
)
def test_an_operation_that_differs_has_a_handler_of_its_own(tmp_path, of_document, a, b):
    first, second = Project(tmp_path, a, b, of_document).handlers
    assert first is not second


NOTE = {"parameters": [HEADER]}
EDIT = {"policies": [{"transform": {"request": {"header": {"set": {"x-a": "1"}}}}}]}
REMOVE = {"transform": {"request": {"header": {"remove": ["x-a"]}}}}
RATE = {"rate_limit": {"requests": 9, "per": "1m"}}
DENY = {"deny": {"if": {"header": {"x": "1"}}}}
JUDGED = {**TO, "policies": [*EDIT["policies"], DENY]}
REPORT = {**TO, "validate_responses": "report"}
BY_HEADER = {"model": "$request.header.x-model"}
MODELS = {"answer": "models"}
ONLY_B = {"big": {"to": [{"upstream": "main"}], "operations": ["shop.b"]}}


TWO_DIALECTS = {
    "shop": {"document": "shop.yaml", "dialect": "openai"},
    "other": {"document": "shop.yaml", "dialect": "anthropic", "mount": "/o"},
}


def response_of(schema):
    content = {"application/json": {"schema": schema}}
    return {"responses": {"200": {"content": content, "description": "ok"}}}


def sockets():
    """A document of two WebSockets."""
    paths = {
        f"/{name}": {"get": {"operationId": name, "responses": {"101": {"description": "ok"}}}}
        for name in "ab"
    }
    return document() | {"paths": paths}


def generating():
    """A document of two chats: the path of the second asks for a stream."""
    name = {"name": "model", "in": "path", "required": True, "schema": {"type": "string"}}
    paths = {
        f"/models/{{model}}:{verb}": {"post": {"operationId": key, "parameters": [name], **CHAT}}
        for key, verb in (("a", "generateContent"), ("b", "streamGenerateContent"))
    }
    return document() | {"paths": paths}


def affinity(header):
    return {**TO, "choose": {"affinity": f"$request.header.{header}"}}


@pytest.mark.parametrize(
    ("name", "a", "b", "of_document", "more"),
    [
        ("select", BY_MODEL, {"model": "$request.query.model"}, None, {}),
        (
            *("select", {"model": {"from": BY_HEADER["model"], "also": [BY_MODEL["model"]]}}),
            *(BY_HEADER, None, {}),
        ),
        ("select", BY_MODEL, BY_MODEL, None, {"models": ONLY_B}),
        ("forward", BY_MODEL, BY_HEADER, None, {}),
        ("forward", BY_MODEL, BY_MODEL, None, {"models": ONLY_B}),
        ("forward", BY_MODEL, BY_MODEL, document(path_b="/chat/completions"), {}),
        ("forward", TO, TO, document(NOTE), {}),
        ("forward", affinity("x-a"), affinity("x-b"), None, {}),
        ("forward", *[{"to": [{"upstream": "main", **REMOVE}]}] * 2, None, {}),
        (
            *("forward", *[{"model": "$request.path.model"}] * 2, generating()),
            {"specs": {"shop": {"document": "shop.yaml", "dialect": "gemini"}}},
        ),
        ("transform", TO, {**TO, "validate": "report"}, None, EDIT),
        ("transform", BY_MODEL, BY_HEADER, None, EDIT),
        ("transform", TO, TO, document(NOTE), EDIT),
        ("transform", TO, TO, document(other_body({"type": "object"})), EDIT),
        ("answer", MODELS, MODELS, document(path_b="/b/{model}"), {}),
        (
            *("answer", MODELS, MODELS, None),
            {
                "specs": TWO_DIALECTS,
                "routes": [{"operation": f"{name}.a", **MODELS} for name in ("shop", "other")],
            },
        ),
        (
            *("meter", TO, TO, None),
            {
                "specs": TWO_DIALECTS,
                "routes": [{"operation": f"{name}.a", **TO} for name in ("shop", "other")],
            },
        ),
        ("converse", TO, {**TO, "websocket": {"idle": "1m"}}, sockets(), {}),
        ("parameters", TO, TO, document(NOTE), {}),
        ("validate", TO, TO, document(other_body({"type": "object"})), {}),
        ("receive", TO, TO, document(other_body({"type": "object"})), {}),
        ("receive", TO, {**TO, "validate": "report"}, None, {}),
        ("limit", TO, {**TO, "policies": [RATE]}, None, {}),
        ("edit", *[JUDGED] * 2, document(other_body({"type": "object"})), {}),
        ("report", REPORT, REPORT, document(response_of({}), response_of({"type": "array"})), {}),
        (
            *("policy", {**TO, "policies": [{"max_body": "1KB"}]}),
            *({**TO, "policies": [{"max_body": "2KB"}]}, None, {}),
        ),
    ],
)
def test_a_step_is_not_shared_by_routes_that_differ_in_what_it_uses(
    tmp_path, monkeypatch, name, a, b, of_document, more
):
    made, once = {}, StageCache.once

    def note(shared, kind, settings, build):
        result = once(shared, kind, settings, build)
        if kind == name:
            made[id(result)] = result
        return result

    monkeypatch.setattr(StageCache, "once", note)
    assert Project(tmp_path, a, b, of_document, **more).handlers
    assert len(made) == 2


def test_routes_that_differ_in_their_checks_share_the_stages_after_them(tmp_path):
    project = Project(tmp_path, b={**BY_MODEL, "validate": "lenient"})
    parts = project.parts()
    for route in project.plan.routes:
        handler_of(route, parts)
    one = len(parts.shared)
    handler_of(replace(project.plan.routes[0], unknown_fields="reject"), parts)
    # Its validation, and the handlers from there to the outermost stage: not those after it.
    assert len(parts.shared) - one == 1 + 8


def test_routes_of_another_dialect_have_another_responder(tmp_path):
    specs = {
        "shop": {"document": "shop.yaml", "dialect": "openai"},
        "other": {"document": "shop.yaml", "dialect": "anthropic", "mount": "/o"},
    }
    routes = [{"operation": f"{name}.a", **TO} for name in specs]
    project = Project(tmp_path, specs=specs, routes=routes)
    a, b = project.handlers
    assert a is not b
    # An error has the form of the route's own dialect.
    assert "type" not in project.post("/a", {}).json
    assert project.post("/a", {}).json["error"]["code"] == "invalid_api_key"
    assert project.app.simulate_post("/o/a", json={}).json["type"] == "error"


def test_a_route_whose_stages_are_wrapped_has_a_handler_of_its_own(tmp_path):
    project, seen = Project(tmp_path), []

    def wrap(route, stages):
        def note(exchange, following):
            seen.append(route.operation.name)
            return following(exchange)

        return [note, *stages]

    parts = project.parts(wrap)
    a, b = (handler_of(route, parts) for route in project.plan.routes)
    assert a is not b
    app = TestClient(build(project.plan, project.services, client=project.client, wrap_stages=wrap))
    for path in "ba":
        app.simulate_post(f"/v1/{path}", json={})
    assert seen == ["b", "a"]


# Routes that share parts behave by their own settings.


@pytest.mark.parametrize(
    ("settings", "body", "headers", "status"),
    [
        ({"validate": "off"}, {"model": "big"}, TOKEN, 200),
        ({"unknown_fields": "reject"}, {"model": "big", "messages": [], "z": 1}, TOKEN, 400),
        ({"auth": "none"}, {"model": "big", "messages": []}, {}, 200),
        ({"policies": [{"max_body": "10B"}]}, {"model": "big", "messages": []}, TOKEN, 413),
        (
            {"policies": [{"deny": {"if": {"body": {"n": 1}}}}]},
            *({"model": "big", "messages": [], "n": 1}, TOKEN, 400),
        ),
        (
            {"model": {"from": "$request.body#/model", "default": "big"}},
            *({"messages": []}, TOKEN, 200),
        ),
    ],
)
def test_only_the_route_of_a_setting_behaves_by_it(tmp_path, settings, body, headers, status):
    project = Project(tmp_path, b={**BY_MODEL, **settings})
    app = project.app
    statuses = [
        app.simulate_post(path, json=body, headers=headers).status_code
        for path in ("/v1/a", "/v1/b", "/v1/a")
    ]
    assert statuses[1] == status
    assert statuses[0] == statuses[2] != status


def test_each_route_goes_to_its_own_targets(tmp_path):
    project = Project(tmp_path, TO, {"to": [{"upstream": "spare"}]})
    app = project.app
    for path in "aba":
        app.simulate_post(f"/v1/{path}", json={"messages": []}, headers=TOKEN)
    hosts = [request.url.partition("//")[2].partition(".")[0] for request in project.requests]
    assert hosts == ["main", "spare", "main"]


def test_a_shared_handler_knows_the_operation_of_each_request(tmp_path):
    settings = {**BY_MODEL, "validate": "report"}
    project = Project(tmp_path, settings, settings)
    a, b = project.handlers
    assert a is b
    app = project.app
    with mismatches.capture([]):
        for path in "aba":
            app.simulate_post(f"/v1/{path}", json={"model": "big"}, headers=TOKEN)
        assert {code[0]: count for code, count in mismatches.codes.items()} == {
            "shop.a": 2,
            "shop.b": 1,
        }
    assert [exchange.operation for exchange in project.exchanges] == ["shop.a", "shop.b", "shop.a"]
    assert [request.url for request in project.requests] == [
        f"http://main.test/v1/{path}" for path in "aba"
    ]


def test_a_mismatch_of_a_response_is_one_of_its_operation(tmp_path):
    answer = {"content": {"application/json": {"schema": {"type": "array"}}}, "description": "ok"}
    response = {"responses": {"200": answer}}
    components = document()["components"] | {"responses": {"R": answer}}
    response = {"responses": {"200": {"$ref": "#/components/responses/R"}}}
    of_document = document(response, response) | {"components": components}
    settings = {**TO, "validate_responses": "report"}
    project = Project(tmp_path, settings, settings, of_document)
    a, b = project.handlers
    assert a is b
    with mismatches.capture([]):
        project.post("/b", messages=[])
        assert [code[:2] for code in mismatches.codes] == [("shop.b", "response")]


def test_a_token_and_a_policy_for_one_operation_do_not_count_for_the_other(tmp_path):
    token = {"name": "x", "sha256": digest("mw-secret-of-x"), "operations": ["shop.b"]}
    project = Project(tmp_path, tokens=[token])
    a, b = project.handlers
    assert a is b
    body = {"model": "big", "messages": []}
    assert [project.post(path, **body).status_code for path in ("/a", "/b")] == [403, 200]
    policies = [{"allow_operations": ["shop.a"]}]
    project = Project(tmp_path, policies=policies)
    a, b = project.handlers
    assert a is b
    refused = project.post("/b", **body)
    assert project.post("/a", **body).status_code == 200
    assert "'shop.b'" in refused.json["error"]["message"]


def test_a_model_without_the_operation_is_refused_in_the_name_of_the_route(tmp_path):
    models = {
        "none": {"to": [{"upstream": "main"}], "operations": ["shop.c"]},
        "big": {"to": [{"upstream": "main"}]},
    }
    of_document = document()
    of_document["paths"]["/c"] = {"post": {"operationId": "c", **CHAT}}
    routes = [{"operation": f"shop.{name}", **BY_MODEL} for name in "abc"]
    project = Project(tmp_path, of_document=of_document, models=models, routes=routes)
    a, b, c = project.handlers
    assert a is b
    assert a is not c  # a model has it, but not the others
    for name in "ab":
        response = project.post(f"/{name}", model="none", messages=[])
        assert response.status_code == 404
        message = response.json["error"]["message"]
        assert message == f"The model 'none' does not have shop.{name}; it has shop.c."


def test_two_mounts_of_an_operation_share_what_is_made_for_one(tmp_path):
    specs = {"shop": {"document": "shop.yaml", "dialect": "openai", "mount": ["/x", "/y"]}}
    settings = {**TO, "hedge": {"after": "p95", "idempotent": True}}
    project, made = Project(tmp_path, settings, settings, specs=specs), []

    def note(route, stages):
        made.append(route.operation.name)
        return stages

    app = TestClient(build(project.plan, project.services, client=project.client, wrap_stages=note))
    for mount in "xy":
        app.simulate_post(f"/{mount}/a", json={"messages": []}, headers=TOKEN)
    assert made == ["a"]
    assert [json.loads(request.body) for request in project.requests] == [{"messages": []}] * 2
