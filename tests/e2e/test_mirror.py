"""Copies of requests in a gateway: they reach their target, and the caller never waits for them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.recording import Recorder, answer, ask, recorder, request
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import until

MAX_IN_FLIGHT = 2
BODY = json.dumps(COMPLETION).encode()


class Site:
    def __init__(self, running: Running, upstream: Recorder, candidate: Recorder) -> None:
        self.running, self.upstream, self.candidate = running, upstream, candidate

    def ask(self) -> int:
        return ask(self.running.port, chat("limited")).status

    def counts(self) -> str:
        return ask(self.running.telemetry, request("/metrics")).body.decode()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("mirrored")
    with ExitStack() as stack:
        upstream, candidate = (stack.enter_context(recorder()) for _ in range(2))
        upstream.speak = answer(BODY)
        routes = {"limited": "[rate_limit: {requests: 6, per: 1h}]"}
        text = project(folder, upstream.url, routes, workers=1)
        target = f'{{url: "{candidate.url}/v1", proxy: "", credential: {{bearer: of-the-mirror}}}}'
        text = text.replace("models:\n", f"  candidate: {target}\nmodels:\n", 1)
        to = "to: [{upstream: candidate, model: next}]"
        mirror = f"mirror: {{{to}, percent: 100, max_in_flight: {MAX_IN_FLIGHT}}}"
        text = text.replace(
            "one: {to: [{upstream: main}]}", f"one: {{to: [{{upstream: main}}], {mirror}}}"
        )
        yield Site(stack.enter_context(gateway(folder, text)), upstream, candidate)


def test_a_copy_is_sent_with_the_credential_and_the_model_of_the_mirror(site: Site) -> None:
    site.candidate.speak = answer(BODY)
    assert site.ask() == 200
    until(lambda: site.candidate.requests)
    received = site.candidate.last
    assert json.loads(received.body)["model"] == "next"
    assert received.values("authorization") == ["Bearer of-the-mirror"]
    own = site.upstream.last
    assert json.loads(own.body)["model"] == "one"
    assert received.values("x-request-id") != own.values("x-request-id")
    until(lambda: '"via":"mirror"' in site.running.output())
    (line,) = [x for x in site.running.output().splitlines() if '"via":"mirror"' in x]
    entry = json.loads(line)
    assert (entry["token"], entry["upstream"], entry["status"]) == ("", "candidate", 200)
    assert entry["usage"]["input"] == COMPLETION["usage"]["prompt_tokens"]


def test_a_mirror_that_hangs_delays_nobody_and_counts_against_no_limit(site: Site) -> None:
    released = threading.Event()
    site.candidate.reset()
    site.candidate.speak = lambda received, sock: (released.wait(60), answer(BODY)(received, sock))
    try:
        assert [site.ask() for _ in range(5)] == [200] * 5  # six with that before
        assert len(site.candidate.requests) <= MAX_IN_FLIGHT
    finally:
        released.set()
    wanted = 'modelway_mirror_requests_total{model="one",result="dropped"} 3.0'
    until(lambda: wanted in site.counts())
    assert site.ask() == 429
