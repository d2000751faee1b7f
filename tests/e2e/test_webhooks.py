"""Warnings before a budget ends: two gateways share counters, and a real verifier reads events."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from standardwebhooks import Webhook

from engine.values.caller import digest
from tests.support import redis_server
from tests.support.crowd import crowd
from tests.support.recording import Recorder, answer, ask, recorder, request
from tests.support.redis_server import RedisServer
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(redis_server.BINARY is None, reason=redis_server.WHY_NOT)

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ANN, BEN, CID = (f"mw-{name}" + "0" * 61 for name in ("ann", "ben", "cid"))
MORE = """
prices: {{one: {{input: 1000, output: 1000}}}}  # a request costs 0.01
teams:
  search: {{budget: 0.20 USD/month, warn_at: [50%, 80%, 100%]}}
  slow: {{rate: 10/1h, warn_at: [50%]}}
webhooks: {{finance: {{url: "{hook}/budgets?key=1", secret: "{secret}", timeout: 5s}}}}
stores: {{counters: "{redis}"}}
"""


class Site:
    """Two gateways with the same counters, and the server that gets their events."""

    def __init__(self, gateways: list[Running], hook: Recorder) -> None:
        self.gateways, self.hook = gateways, hook
        self.ports = [each.port for each in gateways]

    def events(self, count: int) -> list[dict]:
        """The verified events, as soon as there are so many, in order of their shares."""
        until(lambda: len(self.hook.requests) >= count, f"{count} events")
        verify = Webhook(SECRET).verify
        events = [verify(each.body, dict(each.headers)) for each in self.hook.requests]
        return sorted(events, key=lambda event: event["data"]["percent"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as stack:
        upstream, hook = stack.enter_context(recorder()), stack.enter_context(recorder())
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        redis = RedisServer()
        stack.callback(redis.close)
        gateways = []
        for name in ("one", "two"):
            folder = tmp_path_factory.mktemp(name)
            more = MORE.format(hook=hook.url, secret=SECRET, redis=redis.url)
            text = project(folder, upstream.url, {"chat": "[]"}, more=more, workers=1)
            tokens = "".join(
                f"  - {{name: {token}, team: {team}, sha256: {digest(secret)}}}\n"
                for token, team, secret in (("ann", "search", ANN), ("cid", "slow", CID))
            )
            text = text.replace("\ntokens:\n", "\ntokens:\n" + tokens)
            gateways.append(stack.enter_context(gateway(folder, text)))
        yield Site(gateways, hook)


def test_each_threshold_is_reported_once_by_all_gateways(site: Site) -> None:
    site.hook.speak = answer(b"", status=204)
    body = chat("chat", token=ANN, max_tokens=5)
    served = crowd(site.ports, body, 30, callers=2)
    assert served[200] >= 15
    assert served[402] == 30 - served[200]
    events = site.events(3)
    assert [event["data"]["percent"] for event in events] == [50, 80, 100]
    limit = events[0]["data"]["limit"]
    assert (limit["kind"], limit["by"], limit["unit"]) == ("budget", {"team": "search"}, "USD")
    assert (limit["amount"], limit["window"]) == ("0.20", "month")
    assert len({dict(each.headers)["webhook-id"] for each in site.hook.requests}) == 3
    assert {each.target for each in site.hook.requests} == {"/budgets?key=1"}
    pages = [ask(each.telemetry, request("/metrics")).body.decode() for each in site.gateways]
    name = 'modelway_limit_warnings_total{by="team",kind="budget",percent="80"}'
    lines = [line for page in pages for line in page.splitlines() if line.startswith(name)]
    assert sum(float(line.split()[-1]) for line in lines) == 1.0


def test_an_event_is_sent_again_by_the_next_recorder_with_the_same_id(site: Site) -> None:
    site.hook.requests.clear()
    site.hook.speak = answer(b"", headers=["Retry-After: 1"], status=503)
    for _ in range(5):
        assert ask(site.ports[0], chat("chat", token=CID)).status == 200
    until(lambda: site.hook.requests, "a failed attempt")
    (recorder_before,) = site.gateways[0].recorders()
    os.kill(recorder_before, signal.SIGKILL)
    site.hook.speak = answer(b"", status=200)
    until(lambda: site.gateways[0].recorders() not in ([], [recorder_before]), "a recorder")
    until(lambda: len(site.hook.requests) >= 2, "the second attempt")
    events = site.events(2)
    assert events[0] == events[-1]
    assert events[0]["data"]["limit"]["by"] == {"team": "slow"}
    assert len({dict(each.headers)["webhook-id"] for each in site.hook.requests}) == 1
