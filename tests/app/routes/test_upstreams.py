"""The upstreams of a worker: those with `resolve` are followed while it serves."""

from __future__ import annotations

from engine.app.routes.upstreams import upstreams_of
from engine.exchange.stage_services import Services
from engine.plan.assembly.make_plan import make_plan
from engine.telemetry.health import Health
from engine.upstream.client.dial_order import Address, Share
from engine.upstream.targets.connect import open_alone
from engine.upstream.targets.metrics import ADDRESSES
from tests.support.small import project
from tests.support.upstreams import AddressedClient


class Worker:
    """The upstreams of a small project, whose clients look nothing up."""

    def __init__(self, folder, background):
        config = project(folder, "http://plain.test", {"chat": "[]"}).replace("{listen}", "[::1]:1")
        config = config.replace("main: {", "main: {resolve: {max_addresses: 1}, ")
        (folder / "gateway.yaml").write_text(config)
        planned = make_plan(folder / "gateway.yaml", {})
        assert planned.plan is not None, planned.findings.errors
        self.closed = []
        self.health = Health()
        self.services = Services(background=background, health=self.health)
        self.upstreams = upstreams_of(planned.plan.config, self.services, self.client, open_alone)

    def client(self, url, **options):
        made = AddressedClient()
        made.close = lambda: self.closed.append(url)
        return made


def test_readyz_has_the_addresses_of_upstreams_that_are_followed(tmp_path):
    worker = Worker(tmp_path, background=True)
    assert worker.health.details(True, 0.0)["upstreams"] == {
        "main": {"addresses": [], "omitted": 0, "age": None, "last_lookup_error": None}
    }
    client = worker.upstreams["main"].client
    client.move({Address("10.0.0.1", 80): Share(), Address("10.0.0.2", 80): Share()})
    client.lookup.error = "no answer"
    details = worker.health.details(True, 0.0)["upstreams"]["main"]
    assert details.pop("age") > 0
    assert details == {
        "addresses": ["10.0.0.1:80"],
        "omitted": 1,
        "last_lookup_error": "no answer",
    }


def test_the_addresses_are_counted(tmp_path):
    worker = Worker(tmp_path, background=True)
    worker.upstreams["main"].client.move({Address("10.0.0.1", 80): Share()})
    (collect,) = worker.services.collectors
    assert list(collect()) == [(ADDRESSES, ("main",), 1)]


def test_clients_close_with_the_services(tmp_path):
    worker = Worker(tmp_path, background=True)
    worker.services.close()
    assert len(worker.closed) == len(worker.upstreams) == 3


def test_a_rehearsal_follows_nothing(tmp_path):
    worker = Worker(tmp_path, background=False)
    worker.upstreams["main"].client.move({Address("10.0.0.1", 80): Share()})
    assert worker.upstreams["main"].replicas.levels == ()
    assert worker.services.collectors == worker.services.closing == []
