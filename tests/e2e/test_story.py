"""A person signs in and sees the team's 50 USD, an agent of theirs spends them at two gateways, the
warning arrives at 80 %, the budget ends at both at once, exactly, and the page says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from standardwebhooks import Webhook

from engine.values.caller import digest
from tests.support import postgres, redis_server
from tests.support.browser import CHROMIUM
from tests.support.crowd import crowd
from tests.support.driver import Driver
from tests.support.oidc_provider import IS_INSTALLED, PEOPLE, oidc_provider, sign_in_page
from tests.support.paths import ROOT
from tests.support.recording import Recorder, answer, ask, recorder
from tests.support.redis_server import RedisServer
from tests.support.running import TOKENS, Running, gateway
from tests.support.small import COMPLETION, chat, project
from tests.support.thorough import some
from tests.support.waiting import until

pytestmark = [
    pytest.mark.skipif(not IS_INSTALLED, reason="oidc-provider of npm is not installed"),
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium; `apt-get install chromium` brings one"),
    pytest.mark.skipif(redis_server.BINARY is None, reason=redis_server.WHY_NOT),
]

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
AGENT = "mw-agent" + "0" * 59
COST, BUDGET = 2.5, 50.0
REQUESTS = int(BUDGET / COST)
"""Those that the budget pays: an answer has the five tokens of 0.50 USD that a request allows, so
that the estimate is the cost and the budget is spent to the last cent."""
ANSWER = {**COMPLETION, "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}}
MORE = (
    """
prices: {{one: {{input: 0, output: 500000}}}}
teams: {{search: {{budget: 50 USD/month, warn_at: [80%]}}}}
webhooks: {{finance: {{url: "{hook}/budgets", secret: "{secret}", timeout: 5s}}}}
stores: {{counters: "{redis}", records: "{records}"}}
"""
    + PEOPLE
)


@dataclass
class Company:
    """Two gateways with the same records and counters, and the server that gets their events."""

    gateways: list[Running]
    hook: Recorder

    @property
    def ports(self) -> list[int]:
        return [each.port for each in self.gateways]


@pytest.fixture(params=some([*range(30)], 1))
def company(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Company]:
    """Anew for each run: a budget is spent once a month."""
    with ExitStack() as stack:
        upstream, hook = stack.enter_context(recorder()), stack.enter_context(recorder())
        upstream.speak = answer(json.dumps(ANSWER).encode())
        hook.speak = answer(b"", status=204)
        redis = RedisServer()
        stack.callback(redis.close)
        more = MORE.format(
            hook=hook.url,
            secret=SECRET,
            redis=redis.url,
            records=stack.enter_context(postgres.running()).fresh(),
            issuer=stack.enter_context(oidc_provider()),
        )
        gateways = []
        for name in ("one", "two"):
            folder = tmp_path_factory.mktemp(name)
            text = project(folder, upstream.url, {"chat": "[]"}, more=more, workers=1)
            text = text.replace("workers: 1}", 'workers: 1, base_url: "http://{listen}"}')
            text = text.replace(
                "specs: {", f'specs: {{modelway: {{document: "{ROOT}/openapi/modelway.yaml"}}, '
            )
            token = f"  - {{name: agent, team: search, sha256: {digest(AGENT)}}}\n"
            usage = "  - {operation: modelway.getUsage, answer: usage}\n"
            tokens = TOKENS.replace("tokens:\n", f"tokens:\n{token}", 1)
            gateways.append(
                stack.enter_context(gateway(folder, text.replace(TOKENS, usage + tokens)))
            )
        yield Company(gateways, hook)


def budget(page: Driver, text: str) -> None:
    """Refresh the page until it says this of the team's budget: a gateway reads limits again after
    a second, and the whole story may take less."""
    page.until(
        "document.querySelector('#refresh')?.click(),"
        " [...document.querySelectorAll('#limits li')].some((card) =>"
        f" card.innerText.includes('team search') && card.innerText.includes('{text}'))"
    )


def test_a_company_spends_its_budget_and_sees_it(page: Driver, company: Company) -> None:
    page.command("Network.clearBrowserCookies")
    page.open(f"{company.gateways[0].url}/console/usage")
    page.until("document.querySelector('#session button') !== null")
    page.click("#session button")
    sign_in_page(page, "ada")
    budget(page, "(0%)")

    body = chat("chat", token=AGENT, max_tokens=5)
    first = int(REQUESTS * 0.8)
    assert crowd(company.ports, body, first, callers=4) == {200: first}
    until(lambda: company.hook.requests, "the warning")
    event = company.hook.requests[0]
    data = Webhook(SECRET).verify(event.body, dict(event.headers))["data"]
    assert (data["percent"], data["limit"]["by"]) == (80, {"team": "search"})

    statuses = [ask(port, body).status for port in company.ports * REQUESTS]
    assert statuses.count(200) == REQUESTS - first
    end = statuses.index(402)
    assert set(statuses[end:]) == {402}, "the end is that of both gateways"
    assert crowd(company.ports, body, 10, callers=4) == {402: 10}
    assert len(company.hook.requests) == 1

    budget(page, "(100%)")
    page.command("Network.clearBrowserCookies")
