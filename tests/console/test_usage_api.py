"""GET /console/usage.json: whom it answers, and with what."""

import json

import falcon.testing
import pytest

from engine.app.build import build
from tests.console.conftest import planned
from tests.support.running import ALL, LIMITED

ROUTE = "  - {operation: modelway.getUsage, answer: usage}"


def ask(client, token):
    headers = {"authorization": f"Bearer {token}"}
    return client.simulate_get("/console/usage.json", headers=headers)


def test_a_token_gets_the_addresses_of_its_usage(client):
    answer = ask(client, ALL)
    assert answer.json["token"]["team"] is None
    assert answer.json["usage"] == "/v1/usage"
    assert answer.json["requests"] is None  # there is no ledger
    assert answer.headers["cache-control"] == "no-store"


def test_agents_have_the_address_and_a_model_that_the_token_may_use(client):
    everything, limited = ask(client, ALL).json["agents"], ask(client, LIMITED).json["agents"]
    assert len(everything) >= len(limited) > 0
    assert "http://falconframework.org" in json.dumps(everything)
    assert "claude" in json.dumps(everything)
    assert "claude-sonnet" not in json.dumps(limited)


def test_without_a_token_it_is_refused(client):
    assert client.simulate_get("/console/usage.json").status_code == 401


@pytest.mark.parametrize("change", [("", "\nconsole: {usage: false}\n"), (ROUTE, "")])
def test_switched_off_or_without_a_route_there_is_no_page(text, change):
    removed, more = change
    changed = "\n".join(line for line in text.splitlines() if not removed or removed not in line)
    client = falcon.testing.TestClient(build(planned(changed + more)))
    for path in ("/console/usage", "/console/usage.json"):
        assert client.simulate_get(path).status_code == 404
    for path in ("/", "/console/playground", "/docs"):
        assert "Usage</a>" not in client.simulate_get(path).text


def test_the_other_pages_link_to_it(client):
    for path in ("/", "/console/playground", "/docs"):
        assert "Usage</a>" in client.simulate_get(path).text
