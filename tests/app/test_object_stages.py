"""The stages for objects of a route: those that its facts ask for."""

from dataclasses import replace
from functools import partial

import pytest

from engine.app.machine_stores import open_shared
from engine.app.object_stages import id_stages, open_stages
from engine.app.route_handler import judging_stages
from engine.app.worker_parts import identity, parts_of
from engine.app.worker_services import services_of
from engine.edge.inside_call import InsideCalls
from engine.objects.facts import read_facts
from engine.plan.make_plan import make_plan
from engine.upstream.client.client import Client
from tests.support.each import each

CONFIG = """
version: 1
objects: {key: 0123456789abcdef0123456789abcdef}
specs: {v: {document: v.yaml, dialect: openai}}
upstreams: {one: {url: "http://127.0.0.1:9/v1", dialect: openai}}
routes: [{operation: v.createFile, to: [{upstream: one}]}]
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: V, version: "1"}
paths:
  /files:
    post:
      operationId: createFile
      x-modelway-objects: {creates: {file: "body#/id"}}
      responses: {"200": {description: A file, content: {application/json: {schema: {}}}}}
security: [{bearer: []}]
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
"""


@pytest.fixture
def parts(tmp_path):
    (tmp_path / "v.yaml").write_text(DOCUMENT)
    path = tmp_path / "gateway.yaml"
    path.write_text(CONFIG)
    plan = make_plan(path, {}).plan
    services = services_of(plan)
    return parts_of(plan, services, Client, open_shared(plan.config), identity, InsideCalls())


@each(
    ("facts", "count"),
    [
        ({"creates": {"file": "body#/id"}}, 1),
        ({"batch": "requests"}, 2),
        ({"batch": ["pieces"]}, 2),
        ({"batch": []}, 1),
    ],
)
def test_batches_are_judged_before_ids_are_opened(parts, facts, count):
    route = replace(parts.plan.routes[0], objects=read_facts(facts)[0])
    judging = partial(judging_stages, parts=parts)
    assert len(id_stages(route, parts, None, judging)) == count
    assert len(open_stages(route, parts, None)) == 1


def test_a_route_without_facts_has_none(parts):
    route = replace(parts.plan.routes[0], objects=None)
    assert id_stages(route, parts, None, partial(judging_stages, parts=parts)) == []
