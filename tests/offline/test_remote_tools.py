"""What other servers list, asked without serving."""

import pytest

from engine.offline.remote_tools import all_tools, fetch, held_back, offline_listings, unpinned
from engine.plan.tool_pins import pins_text
from tests.plan.test_tool_servers import CONFIG, planned
from tests.support.mcp_upstreams import Script, tool
from tests.support.recording import answer, recorder


@pytest.fixture(scope="module")
def upstream():
    with recorder() as recording:
        yield recording


def plan_of(folder, upstream, tools):
    text = CONFIG.replace("https://far.example.com/mcp/?team=1", f"{upstream.url}/mcp")
    text = text.replace("/mcp}", '/mcp, proxy: "", pins: far.json}', 1)
    return planned(folder, text, **{"far.json": pins_text("far", tools)}).plan


def test_a_server_is_asked_as_the_gateway_asks_it(tmp_path, upstream):
    script = upstream.speak = Script(modern=False, tools=[tool("show"), tool("new")])
    plan = plan_of(tmp_path, upstream, [tool("show")])
    server = plan.config.mcp["all"]
    listed = fetch(plan.config, [plan.tool_upstreams["far"]])
    assert [each.name for each in all_tools(plan, server, listed)] == ["far_show"]
    assert [(name, held.name) for name, held in held_back(server, listed)] == [("far", "new")]
    assert script.sessions == set()
    every = fetch(plan.config, unpinned(plan.config, ["far"]))
    assert len(every["far"].listing.tools) == 2


def test_a_server_that_does_not_answer_has_a_problem_and_its_pins(tmp_path, upstream):
    upstream.speak = answer(b"{}", status=500)
    plan = plan_of(tmp_path, upstream, [tool("show")])
    found = fetch(plan.config, [*plan.tool_upstreams.values()])["far"]
    assert "500" in found.problem
    assert [each["name"] for each in found.listing.tools] == ["show"]


def test_offline_the_pins_are_listed(tmp_path, upstream):
    plan = plan_of(tmp_path, upstream, [tool("show")])
    assert [each["name"] for each in offline_listings(plan)["far"].listing.tools] == ["show"]
