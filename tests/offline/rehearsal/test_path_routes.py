"""The routes that are built for a rehearsal: never fewer than the router needs to decide."""

import pytest

from engine.offline.rehearsal import rehearse
from engine.offline.rehearsal.observation import request
from engine.offline.rehearsal.path_routes import narrow_plan
from tests.support.rehearsing import CONFIG, DOCUMENT, planned

MORE = DOCUMENT.replace(
    "components:",
    """  /items/first: {get: {operationId: first, responses: {"200": {description: ok}}}}
  /items/{id}/parts: {post: {operationId: parts, responses: {"200": {description: ok}}}}
  /models/{model}: {get: {operationId: model, parameters: [
    {name: model, in: path, required: true, schema: {type: string}}],
    responses: {"200": {description: ok}}}}
components:""",
)
ROUTES = """  - {operations: [shop.first, shop.parts], to: [{upstream: main}], auth: none}
  - {operation: shop.model, model: $request.path.model, auth: none}
tokens:"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    config = CONFIG.replace("tokens:", ROUTES)
    return planned(tmp_path_factory.mktemp("project"), config, MORE).plan


def operations_kept(plan, path):
    return {route.operation.name for route in narrow_plan(plan, path).routes}


def test_only_routes_that_may_match_the_path_are_selected(plan):
    assert operations_kept(plan, "/v1/chat") == {"chat"}
    assert operations_kept(plan, "/v1/items/first") == {"first", "show"}
    assert operations_kept(plan, "/v1/items/x/parts") == {"parts"}
    assert operations_kept(plan, "/v1/models/a/b/c") == {"model", "say"}


def test_a_path_without_a_match_selects_all_routes(plan):
    assert len(operations_kept(plan, "/nowhere")) == len(plan.routes)
    assert len(operations_kept(plan, "/v1/models/x:sing")) == len(plan.routes)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize(
    "path",
    [
        *("/v1/chat", "/v1/chat/", "/v1/chat?page=x", "/v1//chat", "/v1/%63hat", "/v1/items/7"),
        *("/v1/items/first", "/v1/items/%66irst", "/v1/items/", "/v1/items/7/parts", "/", "/v1"),
        *("/v1/models/big", "/v1/models/a%2Fb", "/v1/models/a/b:say", "/v1/models/big:say"),
        *("/v1/models/big:sing", "/v1/models/big/say", "/v1/models/", "/v1/../v1/chat", "/v1/x%"),
    ],
)
def test_the_answer_is_that_of_all_routes(plan, monkeypatch, method, path):
    caller_request = request(method, path, (), b"")
    narrowed_result = rehearse.rehearse(plan, caller_request)
    monkeypatch.setattr(rehearse, "narrow_plan", lambda plan, path: plan)
    full_result = rehearse.rehearse(plan, caller_request)
    results = [
        (s.status, s.body, s.route and s.route.operation.id) for s in (narrowed_result, full_result)
    ]
    assert results[0] == results[1]
