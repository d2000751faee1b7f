"""The data that pages ask for: whom it answers, and with what."""

import json

import falcon.testing
import pytest
from msgspec import structs

from engine.app.build import build
from engine.console.page_data import model_status
from engine.exchange.stage_services import Services
from engine.telemetry.health import Health
from tests.console.conftest import planned
from tests.support.exchanges import new_exchange
from tests.support.running import ALL, LIMITED

ROUTE = "  - {operation: modelway.getUsage, answer: usage}"
MCP = """
mcp:
  chats: {path: /mcp/chats, operations: [openai.createChatCompletion]}
"""


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


def answer(services):
    return model_status(services)(new_exchange("GET", "/console/status.json"))


def test_it_has_the_states_of_the_worker():
    health = Health(model_states=lambda: {"gpt-4o": "healthy", "b": "degraded"})
    response = answer(Services(health=health))
    assert response.status == 200
    assert response.body == b'{"models":{"gpt-4o":"healthy","b":"degraded"}}'
    assert ("cache-control", "no-store") in response.headers


def test_it_is_empty_without_states():
    assert answer(Services()).body == b'{"models":{}}'
    assert answer(Services(health=Health())).body == b'{"models":{}}'


def test_states_are_read_once_in_two_seconds():
    reads, now = [], [0.0]
    health = Health(model_states=lambda: reads.append(0) or {})
    handler = model_status(structs.replace(Services(), health=health, monotonic=lambda: now[0]))
    for now[0] in (0.0, 1.9, 2.1):
        handler(new_exchange("GET", "/console/status.json"))
    assert len(reads) == 2


@pytest.fixture
def gateway(text):
    def make(more=MCP):
        return falcon.testing.TestClient(build(planned(f"{text}{more}")))

    return make


def test_a_token_gets_the_servers(gateway):
    headers = {"authorization": f"Bearer {ALL}"}
    answer = gateway().simulate_get("/console/tools.json", headers=headers)
    assert answer.json["servers"] == [{"name": "chats", "path": "/mcp/chats"}]
    assert answer.headers["cache-control"] == "no-store"


def test_without_a_token_the_tools_are_refused(gateway):
    assert gateway().simulate_get("/console/tools.json").status_code == 401


@pytest.mark.parametrize("more", ["", f"{MCP}console: {{tools: false}}\n"])
def test_without_servers_or_switched_off_there_is_no_page(gateway, more):
    client = gateway(more)
    for path in ("/console/tools", "/console/tools.json"):
        assert client.simulate_get(path).status_code == 404
    for path in ("/", "/console/playground", "/docs"):
        assert "Tools</a>" not in client.simulate_get(path).text


def test_the_other_pages_link_to_the_tools(gateway):
    client = gateway()
    for path in ("/", "/console/playground", "/docs"):
        assert "Tools</a>" in client.simulate_get(path).text
