"""The stages of a route for batches: those that its facts ask for."""

from functools import partial

import pytest
from msgspec.structs import replace

from engine.app.routes.batch_stages import BatchCharges, BatchFileUpload, batch_route, batch_stages
from engine.app.routes.file_calls import CannotCopy
from engine.app.routes.route_handler import judging_stages, stages_of
from engine.app.routes.worker_parts import identity, parts_of
from engine.app.services.machine_stores import open_shared
from engine.app.services.worker_services import services_of
from engine.edge.inside_call import InsideCalls
from engine.exchange.opened_ids import Holder
from engine.exchange.request_body import Body
from engine.exchange.stage_services import Services
from engine.objects.batches.batch_records import BatchRecords
from engine.objects.facts_reader import read_facts
from engine.plan.assembly.make_plan import make_plan
from engine.upstream.client.client import Client
from engine.values.caller import Caller
from engine.values.counters import CountersAway
from engine.values.errors import GatewayError
from engine.values.quota import Quota
from engine.values.usage import Usage
from tests.support.batch_store import MemoryBatches
from tests.support.each import each
from tests.support.exchanges import new_exchange

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


def stages(parts, facts):
    route = replace(parts.plan.routes[0], objects=facts)
    return batch_stages(route, parts, partial(judging_stages, parts=parts))


@each(
    ("facts", "count"),
    [
        ({"creates": {"file": "body#/id"}}, 0),
        ({"batch": "requests"}, 1),
        ({"batch": ["pieces"]}, 1),
        ({"batch": ["state", "results"]}, 0),
    ],
)
def test_batches_are_judged_where_they_come_in(parts, facts, count):
    assert len(stages(parts, read_facts(facts)[0])) == count
    assert stages(parts, None) == []


def test_the_stages_of_a_route_have_them(parts):
    facts = read_facts({"batch": "requests"})[0]
    (judge,) = stages(parts, facts)
    route = replace(parts.plan.routes[0], objects=facts)
    assert judge in stages_of(route, parts)
    assert judge not in stages_of(route, replace(parts, opener=None))


def test_results_are_counted_with_records_alone(parts):
    facts = read_facts({"batch": "results"})[0]
    route = replace(parts.plan.routes[0], objects=facts)
    assert batch_route(route, parts) is None
    counting = replace(parts, batches=BatchRecords(MemoryBatches()))
    assert batch_route(route, counting) is not None
    assert batch_route(parts.plan.routes[0], counting) is None


TO = Holder("there", 1)


class Calls:
    def upload(self, exchange, facts, body, to):
        assert (facts.size, to) == (body.size, TO)
        if body.size == 2:
            raise CannotCopy("there is no room.")
        return f"files/{facts.name}"


def test_the_new_file_has_an_id_of_its_own():
    assert BatchFileUpload(Calls())(new_exchange(), Body(b"a"), TO) == "files/batch.jsonl"


def test_a_file_that_its_vendor_does_not_take_is_a_failure():
    with pytest.raises(GatewayError, match="cannot be uploaded: there is no room") as raised:
        BatchFileUpload(Calls())(new_exchange(), Body(b"ab"), TO)
    assert raised.value.status == 502


LIMITS = (
    Quota("requests", 1, 3600.0),
    Quota("tokens", 100, 3600.0),
    Quota("spend", 1_000_000, 3600.0),
    Quota("concurrency", 1),
)
ANN = Caller("ann", limits=LIMITS)


class Counters:
    """Counters that remember what was settled."""

    def __init__(self, denied=None, error=None):
        self.settled, self._denied, self._error = {}, denied, error

    def take(self, limits, costs):
        if self._error is not None:
            raise self._error
        denied = 0 if self._denied and self._denied in limits[0].key else None

        class Taken:
            receipt = limits[0].key

        Taken.denied = denied
        return Taken

    def settle(self, receipt, costs):
        self.settled[receipt] = costs


def charge(counters):
    exchange = new_exchange(caller=ANN)
    charges = BatchCharges((), Services(counters=counters), lambda *arguments: [])
    charges(exchange, "v.chat", "m", Usage(input=10, output=5), 700)
    return exchange


def test_tokens_and_money_count_and_requests_do_not():
    counters = Counters()
    charge(counters)
    assert [*counters.settled.values()] == [(15,), (700,)]


def test_a_quota_that_is_used_up_gets_no_more_and_the_others_do():
    counters = Counters(denied="tokens")
    charge(counters)
    assert [*counters.settled.values()] == [(700,)]


def test_without_counters_the_request_says_so():
    assert charge(Counters(error=CountersAway("away"))).record.uncounted
    assert not charge(None).record.uncounted
