"""The tools of a server as they are now."""

from tests.app.mcp.test_remote_server import names
from tests.support.mcp_upstreams import BOB, Script, tool


def test_a_list_that_stays_the_same_is_one_catalog(far):
    gateway = far(Script())
    first = names(gateway)
    assert names(gateway) == first == ["far_drop", "far_show"]


def test_a_new_tool_of_a_server_is_listed_when_its_list_has_expired(far):
    now = [1000.0]
    script = Script(more={"ttlMs": 60_000})
    gateway = far(script, monotonic=lambda: now[0])
    names(gateway)
    script.tools.append(tool("later"))
    assert "far_later" not in names(gateway)
    now[0] += 61
    assert "far_later" in names(gateway)
    assert "far_later" not in names(gateway, BOB)
