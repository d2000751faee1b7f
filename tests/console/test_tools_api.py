"""GET /console/tools.json: whom it answers, and with what."""

import falcon.testing
import pytest

from engine.app.build import build
from tests.console.conftest import planned
from tests.support.running import ALL

MCP = """
mcp:
  chats: {path: /mcp/chats, operations: [openai.createChatCompletion]}
"""


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


def test_without_a_token_it_is_refused(gateway):
    assert gateway().simulate_get("/console/tools.json").status_code == 401


@pytest.mark.parametrize("more", ["", f"{MCP}console: {{tools: false}}\n"])
def test_without_servers_or_switched_off_there_is_no_page(gateway, more):
    client = gateway(more)
    for path in ("/console/tools", "/console/tools.json"):
        assert client.simulate_get(path).status_code == 404
    for path in ("/", "/console/playground", "/docs"):
        assert "Tools</a>" not in client.simulate_get(path).text


def test_the_other_pages_link_to_it(gateway):
    client = gateway()
    for path in ("/", "/console/playground", "/docs"):
        assert "Tools</a>" in client.simulate_get(path).text
