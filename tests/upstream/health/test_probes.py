"""Active probes: when a server is failing, what a probe sends, and which worker probes."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import gevent
import pytest

from engine.config.health import ProbeConfig
from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.credentials.interface.fixed import HeaderCredential
from engine.upstream.client import failures
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.health.probes import ProbeLaw, Prober, ServerProbe
from engine.values.errors import too_many_connections
from engine.values.machine_state import LocalState, MachineState
from tests.support.clock import Clock
from tests.support.each import each
from tests.support.upstreams import Client, FakeResponse, failure, upstream

CONFIG = ProbeConfig("/health", every=5.0, timeout=2.0, healthy=2, unhealthy=3)
KEY = HeaderCredential("header", "x-key", "secret")


@each(
    "probes, states",
    [
        # + a probe that succeeds, - one that fails; the state after each.
        ("++++", "++++"),
        ("-", "-"),
        ("+--+--", "++++++"),
        ("+---", "+++-"),
        ("+---+-+", "+++----"),
        ("+---++", "+++--+"),
        ("-+", "--"),
        ("-++---", "--+++-"),
        ("-+-++", "----+"),
    ],
)
def test_the_law(probes: str, states: str) -> None:
    law = ProbeLaw(CONFIG)
    assert "".join("-" if law.record(probe == "+") else "+" for probe in probes) == states


def test_a_worker_that_takes_over_goes_on_from_the_state_that_it_finds() -> None:
    law = ProbeLaw(CONFIG, failing=True)
    assert [law.record(True), law.record(True)] == [True, False]


class Server:
    """The server of an upstream that answers probes so, with a clock."""

    def __init__(
        self,
        *answers: int | UpstreamFailure,
        config: ProbeConfig = CONFIG,
        machine: MachineState | None = None,
        **more: Any,
    ) -> None:
        self.clock = Clock(1000.0)
        self.client = Client(
            *(FakeResponse(answer) if isinstance(answer, int) else answer for answer in answers)
        )
        self.probe = ServerProbe(
            upstream(self.client, **more), config, machine or LocalState(), self.clock
        )

    def states(self, count: int) -> list[float]:
        """Probe `count` times; after each one, for how long the server is failing."""
        result = []
        for _ in range(count):
            self.probe.run()
            result.append(max(0.0, self.probe.failing_until - self.clock.now))
            self.clock.advance(self.probe.config.every)
        return result


def test_a_server_is_failing_until_three_times_between_probes_later() -> None:
    assert Server(200, 503, 503, 503, 503, 200, 200, 200).states(8) == [0, 0, 0, 17, 17, 17, 0, 0]


def test_a_worker_may_be_late_by_seconds_however_often_it_probes() -> None:
    often = ProbeConfig("/health", every=0.2, timeout=0.5, healthy=2, unhealthy=3)
    assert Server(503, config=often).states(1) == [2.5]


def test_the_end_of_a_failure_is_shared_so_that_it_returns_slowly() -> None:
    server = Server(503, 200, 200)
    server.states(3)
    assert server.probe.failing_until == 1010.0


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (200, ""),
        (503, "status 503"),
        (204, "status 204"),
        (302, "status 302"),
        (failure(failures.ConnectFailed), "no connection to the upstream"),
        (failure(failures.FirstByteTimeout), "the upstream did not begin to answer in time"),
        (failure(failures.TotalTimeout), "no answer within the timeout of the probe"),
        (failure(failures.Cancelled), "no complete answer"),
    ],
)
def test_what_fails_a_probe(answer: int | UpstreamFailure, error: str) -> None:
    server = Server(answer)
    server.states(1)
    assert server.probe.reason == error


def test_a_status_tells_more_than_a_body_without_end() -> None:
    server = Server()
    server.client.responses = [FakeResponse(503, body=[failure(failures.TotalTimeout)])]
    server.states(1)
    assert server.probe.reason == "status 503"


def test_all_workers_know_why_the_last_probe_failed() -> None:
    machine = LocalState()
    probing, other = (Server(503, 200, machine=machine) for _ in range(2))
    assert (probing.states(2)[0], other.probe.reason) == (17, "status 503")


def test_a_probe_without_a_credential_says_so(caplog: pytest.LogCaptureFixture) -> None:
    def refuse() -> None:
        raise CredentialUnavailable("the token of the upstream has expired", "/run/token")

    server = Server()
    server.client.during = refuse
    server.states(1)
    assert server.probe.reason == "there is no credential for the probe"
    assert caplog.messages == [
        "upstream u fails its health check: the token of the upstream has expired: /run/token"
    ]


def test_a_probe_without_a_file_descriptor_says_nothing_of_the_server() -> None:
    def exhausted() -> None:
        raise too_many_connections()

    server = Server()
    server.client.during = exhausted
    assert server.states(2) == [0, 0]
    assert (server.probe.reason, server.probe.count) == ("", 0)


def test_other_statuses_may_be_healthy() -> None:
    config = ProbeConfig("/health", status=(204, 429))
    assert Server(204, 429, 204, config=config).states(3) == [0, 0, 0]


def probe_request(**options: Any) -> Any:
    server = Server(200, credentials=[KEY], **options)
    server.states(1)
    (request,) = server.client.requests
    assert server.client.totals == [2.0]
    return request


def test_a_probe_is_a_get_from_the_root_of_the_server_with_the_credential() -> None:
    request = probe_request(config=ProbeConfig("/health?deep=1"))
    assert (request.method, request.target, request.body) == ("GET", "/health?deep=1", None)
    assert request.header("x-key") == "secret"
    assert request.header("user-agent") == "modelway"


def test_an_anonymous_probe_carries_no_credential() -> None:
    assert probe_request(config=ProbeConfig("/health", anonymous=True)).header("x-key") is None


def test_the_response_of_a_probe_is_closed() -> None:
    response = FakeResponse(200)
    client = Client(response)
    ServerProbe(upstream(client), CONFIG, LocalState(), Clock()).run()
    assert response.closed


def test_the_log_says_once_that_it_fails_and_that_it_is_healthy_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "modelway"):
        Server(200, 503, 503, 503, 503, 200, 200, 200).states(8)
    assert caplog.messages == [
        "upstream u fails its health check: status 503",
        "upstream u is healthy again",
    ]


class OneLeader(LocalState):
    """A machine on which this worker does these tasks."""

    def __init__(self, tasks: Iterable[str] = ()) -> None:
        super().__init__()
        self.tasks = set(tasks)

    def leads(self, task: str) -> bool:
        return task in self.tasks


def test_each_server_is_probed_again_and_again() -> None:
    server = Server()
    prober = Prober([server.probe], LocalState(), server.clock, lambda: 0.0)
    waits = []
    for _ in range(12):
        waits.append(prober.step())
        gevent.sleep(0)
        server.clock.advance(1.0)
    assert server.probe.count == 3  # at 0, 5 and 10 seconds
    assert set(waits) == {1.0}


def test_a_worker_that_does_not_lead_does_not_probe_until_it_does() -> None:
    server, machine = Server(), OneLeader()
    prober = Prober([server.probe], machine, server.clock, lambda: 0.0)
    for moment in range(10):
        if moment == 6:
            machine.tasks.add(server.probe.task)
        prober.step()
        gevent.sleep(0)
        server.clock.advance(5.0)
    assert server.probe.count == 4


def test_probes_of_other_settings_are_another_task() -> None:
    """A worker of an old config, which may end much later, does not probe for the new one."""
    other = ProbeConfig("/health", every=6.0)
    assert Server().probe.task == Server().probe.task
    assert Server().probe.task != Server(config=other).probe.task
    assert Server().probe.task != Server(name="other").probe.task


def test_a_stop_ends_the_probes_that_run() -> None:
    server = Server()
    server.client.during = lambda: gevent.sleep(60)
    prober = Prober([server.probe], LocalState(), server.clock, lambda: 0.0)
    prober.step()
    gevent.sleep(0)
    prober.stop()
    assert server.probe.count == 0
