"""Uploads are sent on as they arrive where one attempt is all that there is."""

import pytest
from msgspec.structs import replace

from engine.app.routes.streamed_uploads import streaming_stages
from engine.app.routes.worker_parts import identity, parts_of
from engine.app.services.machine_stores import open_shared
from engine.app.services.worker_services import services_of
from engine.edge.inside_call import InsideCalls
from engine.plan.assembly.make_plan import make_plan
from engine.stages.validate import checks_of
from engine.upstream.client.client import Client
from tests.support.each import each

CONFIG = """
version: 1
objects: {{key: 0123456789abcdef0123456789abcdef}}
specs: {{v: {{document: v.yaml, dialect: openai}}}}
upstreams:
  one: {{url: "http://127.0.0.1:9/v1", dialect: openai, {one}}}
  two: {{url: "http://127.0.0.1:9/v1", dialect: openai, credential: {{bearer: b}}}}
routes: [{{operation: {operation}, {route}}}]
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: V, version: "1"}
paths:
  /files:
    post:
      operationId: create
      x-modelway-objects: {creates: {file: "body#/id"}, streams: body#/file}
      requestBody: &body
        content: {multipart/form-data: {schema: {type: object, properties: {file: {type: string}}}}}
      responses: &responses
        "200": {description: A file, content: {application/json: {schema: {}}}}
  /other:
    post:
      operationId: other
      x-modelway-objects: {creates: {file: "body#/id"}}
      requestBody: *body
      responses: *responses
  /uploads/{id}:
    post:
      operationId: part
      x-modelway-objects: {names: {upload: path.id}, streams: body#/file}
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: *body
      responses: *responses
security: [{bearer: []}]
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
"""
ONE, BOTH = "to: [{upstream: one}]", "to: [{upstream: one}, {upstream: two}]"
KEY, KEYS = "credential: {bearer: a}", "credentials: [{bearer: a}, {bearer: c}]"
SIGNS = "credential: {aws: {region: eu-west-1, service: s, access_key: k, secret_key: s}}"


@pytest.fixture
def stages(tmp_path):
    def of(operation, route, one, validate="strict", **more):
        (tmp_path / "v.yaml").write_text(DOCUMENT)
        path = tmp_path / "gateway.yaml"
        path.write_text(CONFIG.format(operation=f"v.{operation}", route=route, one=one))
        result = make_plan(path, {})
        assert result.plan is not None, [p.message for p in result.problems]
        plan = result.plan
        parts = parts_of(
            plan, services_of(plan), Client, open_shared(plan.config), identity, InsideCalls()
        )
        route = plan.routes[0]
        parts = replace(parts, **more)
        return streaming_stages(route, checks_of(route.operation, validate), parts)

    return of


@each(
    ("operation", "route", "one", "streams"),
    [
        ("create", ONE, KEY, True),
        ("create", BOTH, KEY, False),
        ("create", ONE, KEYS, False),
        ("part", BOTH, KEYS, True),
        ("other", ONE, KEY, False),
        ("create", ONE, SIGNS, False),
        (
            "create",
            ONE + ", policies: [{transform: {request: {query: {set: {a: b}}}}}]",
            KEY,
            False,
        ),
        (
            "create",
            "to: [{upstream: one, transform: {request: {query: {set: {a: b}}}}}]",
            KEY,
            False,
        ),
    ],
)
def test_a_route_sends_uploads_on_or_receives_them(stages, operation, route, one, streams):
    assert bool(stages(operation, route, one)) is streams


def test_what_is_not_parsed_is_not_streamed(stages):
    assert stages("create", ONE, KEY, "off") == []


@pytest.mark.parametrize(("opener", "kept"), [(object(), ["pieces"]), (None, [])])
def test_pieces_are_kept_where_ids_are_opened(stages, monkeypatch, opener, kept):
    class Rules:
        keeps = "pieces"

    monkeypatch.setattr("engine.app.routes.batch_stages.upload_rules", lambda *_: Rules)
    monkeypatch.setattr("engine.app.routes.streamed_uploads.stream_body", lambda *rules: rules[2:])
    assert [*stages("create", ONE, KEY, opener=opener)[0]] == kept
