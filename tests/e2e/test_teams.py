"""Teams and limits by what a request says, counted in Redis through two gateways."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import redis as client

from engine.values.caller import digest
from tests.support import redis_server
from tests.support.crowd import crowd
from tests.support.recording import HttpAnswer, answer, ask, recorder, request
from tests.support.redis_server import RedisServer
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, chat, project

pytestmark = pytest.mark.skipif(redis_server.BINARY is None, reason=redis_server.WHY_NOT)

NAMES = {"ann": "search", "ben": "search", "cid": "ads", "app": "shop", "eve": "shop"}
SECRETS = {name: f"mw-{name}" + "0" * 61 for name in NAMES}
ROUTES = {
    "plain": "[]",
    "customer": "[rate_limit: {requests: 5, per: 1h, by: {header: x-customer, trusted: [app]}}]",
    "strict": "[rate_limit: {requests: 5, per: 1h, by: {header: x-customer, trusted: [app]}, "
    "missing: refuse}]",
    "user": "[rate_limit: {requests: 4, per: 1h, by: [token, {body: /metadata/user}]}]",
    "team": "[rate_limit: {requests: 6, per: 1h, by: [team, model]}]",
}
TEAMS = """
teams:
  company: {rate: 30/1h}
  search: {in: company, rate: 20/1h, models: [one]}
  ads: {in: company, rate: 20/1h}
"""


class Site:
    """Two gateways with the same counters."""

    def __init__(self, gateways: list[Running], redis: RedisServer) -> None:
        self.ports = [each.port for each in gateways]
        self.gateways, self.redis, self._asked = gateways, redis, 0

    def ask(self, data: bytes) -> HttpAnswer:
        """The answer of one gateway, then of the other."""
        self._asked += 1
        return ask(self.ports[self._asked % 2], data)

    def statuses(self, data: bytes, count: int) -> Counter[int]:
        return Counter(self.ask(data).status for _ in range(count))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as stack:
        upstream = stack.enter_context(recorder())
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        redis = RedisServer()
        stack.callback(redis.close)
        gateways = []
        for name in ("one", "two"):
            folder = tmp_path_factory.mktemp(name)
            more = f'stores: {{counters: "{redis.url}"}}' + TEAMS
            text = project(folder, upstream.url, ROUTES, more=more, workers=1)
            tokens = "".join(
                f"  - {{name: {token}, team: {team}, sha256: {digest(SECRETS[token])}}}\n"
                for token, team in NAMES.items()
            )
            text = text.replace("\ntokens:\n", "\ntokens:\n" + tokens)
            gateways.append(stack.enter_context(gateway(folder, text)))
        yield Site(gateways, redis)


def of(name: str, route: str = "plain", customer: str = "", **body) -> bytes:
    content = {"model": "one", "messages": [], **body}
    headers = [f"x-customer: {customer}"] if customer else []
    return request(
        f"/v1/{route}/chat/completions",
        json.dumps(content).encode(),
        token=SECRETS[name],
        headers=headers,
    )


def test_a_member_may_use_what_its_team_allows(site: Site) -> None:
    refused = ask(site.ports[0], chat("plain", model="two", token=SECRETS["ann"]))
    assert (refused.status, refused.json()["error"]["code"]) == (403, "model_not_allowed")


def test_members_and_teams_below_share_the_limits_of_a_team_exactly(site: Site) -> None:
    assert crowd(site.ports, of("ann"), 40, callers=4) == {200: 20, 429: 20}
    refused = site.ask(of("ben"))
    assert refused.status == 429
    message = refused.json()["error"]["message"]
    assert message == "Limit reached: 20 requests per 1 hour for team 'search'."
    assert crowd(site.ports, of("cid"), 40, callers=4) == {200: 10, 429: 30}
    message = site.ask(of("cid")).json()["error"]["message"]
    assert message == "Limit reached: 30 requests per 1 hour for team 'company'."


def test_each_value_of_a_trusted_header_has_its_own_count(site: Site) -> None:
    for customer in ("acme", "Zoe's \xe9", "x" * 300):
        assert site.statuses(of("app", "customer", customer), 7) == {200: 5, 429: 2}
    message = site.ask(of("app", "customer", "acme")).json()["error"]["message"]
    assert message == "Limit reached: 5 requests per 1 hour for this header x-customer."


def test_who_is_not_trusted_gains_nothing_by_another_header(site: Site) -> None:
    answers = [site.ask(of("eve", "customer", f"new-{at}")) for at in range(8)]
    assert Counter(each.status for each in answers) == {200: 5, 429: 3}
    assert "for all requests without header x-customer" in answers[-1].json()["error"]["message"]


def test_a_request_without_a_name_can_be_refused(site: Site) -> None:
    for data in (of("app", "strict"), of("eve", "strict", "acme")):
        refused = site.ask(data)
        assert (refused.status, refused.json()["error"]["code"]) == (400, "limit_name_missing")
    assert site.ask(of("app", "strict", "acme")).status == 200


@pytest.mark.parametrize(
    "user",
    ["ann", "a|b", "#none", "\u0000", 10**30, True, 1.5, "é" * 99],
)
def test_what_a_body_says_is_counted_for_its_token_alone(site: Site, user: object) -> None:
    body = {"metadata": {"user": user}}
    assert site.statuses(of("app", "user", **body), 6) == {200: 4, 429: 2}
    assert site.ask(of("eve", "user", **body)).status == 200


@pytest.mark.parametrize(
    "metadata", [{}, {"user": None}, {"user": {"a": 1}}, [], "x", {"user": ""}]
)
def test_what_is_no_name_shares_one_count(site: Site, metadata: object) -> None:
    assert site.ask(of("eve", "user", metadata=metadata)).status in (200, 429)


def test_combinations_are_counted_one_by_one(site: Site) -> None:
    assert site.statuses(of("app", "team"), 5) == {200: 5}
    assert site.statuses(of("eve", "team"), 3) == {200: 1, 429: 2}
    assert site.statuses(of("eve", "team", model="two"), 3) == {200: 3}


def test_names_in_redis_are_short(site: Site) -> None:
    site.ask(of("app", "user", metadata={"user": "x" * 100_000}))
    with client.Redis.from_url(site.redis.url) as store:
        assert max(map(len, store.keys())) < 200
