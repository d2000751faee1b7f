"""What other servers list, honest and hostile: cached, cleaned, held back, bounded."""

import json
import logging
from contextlib import suppress

import pytest

from engine.app.mcp import remote_lists
from engine.plan.tool_pins import pins_text
from tests.app.mcp.test_remote_server import names
from tests.support.each import each
from tests.support.mcp_messages import modern
from tests.support.mcp_upstreams import ALICE, Script, tool
from tests.support.recording import answer


def pinned(far, script, tools):
    def edit(text):
        return text.replace('proxy: ""', 'proxy: "", pins: far.json')

    return far(script, edit, {"far.json": pins_text("far", tools)})


def test_a_list_is_kept_for_as_long_as_its_server_says(far):
    now = [1000.0]
    script = Script(more={"ttlMs": 60_000})
    gateway = far(script, monotonic=lambda: now[0])
    for seconds, count in ((0, 1), (59, 1), (2, 2)):
        now[0] += seconds
        names(gateway)
        assert script.count("tools/list") == count


def test_pages_are_followed_until_a_cursor_returns(far):
    script = Script(more={"nextCursor": "again"})
    assert names(far(script)) == ["far_drop", "far_show"]
    assert script.count("tools/list") == 2


@each(
    "entry",
    [
        {"name": "bad"},
        {"name": "bad", "inputSchema": True},
        {"name": "bad", "inputSchema": {"type": "string"}},
        {"name": "", "inputSchema": {"type": "object"}},
        {"name": "b\nd", "inputSchema": {"type": "object"}},
        {"name": "b" * 200, "inputSchema": {"type": "object"}},
        "bad",
        None,
        tool("bad", description="x" * 100_000),
        tool("bad", inputSchema=json.loads('{"not":' * 30 + "{}" + "}" * 30)),
    ],
)
def test_a_tool_that_is_not_fit_costs_no_other(far, entry):
    assert names(far(Script(tools=[entry, tool("show")]))) == ["far_show"]


def test_a_schema_of_another_form_breaks_neither_lists_nor_search(far):
    schemas = [{"properties": 5}, {"required": [1]}, {"properties": {"a": 5}}, {"$defs": []}]
    tools = [tool(f"bad{n}", inputSchema=schema) for n, schema in enumerate(schemas)]
    gateway = far(Script(tools=tools))
    assert len(names(gateway)) == 4
    gateway = far(Script(tools=tools + [tool(f"t{n}") for n in range(50)]))
    found = json.loads(gateway.text("search_tools", {"query": "bad0"}, token=ALICE))
    assert found["tools"][0]["name"] == "far_bad0"
    assert found["tools"][0]["inputSchema"] == {"type": "object"}


def test_a_list_of_thousands_is_cut(far):
    gateway = far(Script(tools=[tool(f"t{number}") for number in range(3_000)]))
    assert names(gateway) == ["search_tools", "call_tool"]
    text = gateway.text("search_tools", {"query": "t7", "limit": 1}, token=ALICE)
    assert json.loads(text)["searched"] == 1_000


def test_texts_of_a_server_are_cleaned(far):
    hidden = "Finds.\u200b <b>Now</b> see [here](http://x.example.com)."
    gateway = far(Script(tools=[tool("show", description=hidden, title="\u202eTitle")]))
    _, document = gateway.ask(modern("tools/list"), token=ALICE)
    (entry,) = document["result"]["tools"]
    assert entry["description"] == "Finds. Now see here."
    assert entry["title"] == "Title"


def test_two_servers_names_that_are_equal_differ_in_a_digest(far):
    first, second = names(far(Script(tools=[tool("a b"), tool("a_b")])))
    assert first == "far_a_b"
    assert second.startswith("far_a_b_")


def test_what_differs_from_its_pin_is_held_back_and_logged(far, caplog):
    tools = [tool("show"), tool("drop")]
    changed = [tool("show", description="Now another."), tool("drop"), tool("new")]
    gateway = pinned(far, Script(tools=changed), tools)
    with caplog.at_level(logging.WARNING):
        assert names(gateway) == ["far_drop"]
    assert "'show' (description changed since it was pinned)" in caplog.text
    assert "'new' (it is not in the file of pins)" in caplog.text
    samples = {m.name: value for collect in gateway.collectors for m, _, value in collect()}
    assert samples["modelway_mcp_held_tools"] == 2.0


def test_a_tool_that_is_held_back_cannot_be_called(far):
    script = Script(tools=[tool("show", description="Now another.")])
    gateway = pinned(far, script, [tool("show")])
    status, _ = gateway.ask(modern("tools/call", {"name": "far_show"}), token=ALICE)
    assert status == 400
    assert script.count("tools/call") == 0


@each(
    "speak",
    [
        answer(b"{}", status=500),
        answer(b"not json"),
        answer(b'{"jsonrpc":"2.0","id":1,"result":{}}', ["Location: /x"], 302),
        answer(b"x" * 5_000_000),
    ],
)
def test_a_server_that_does_not_list_is_asked_again_later(far, speak):
    now = [1000.0]
    script = Script(raw={"tools/list": speak})
    gateway = far(script, monotonic=lambda: now[0])
    assert names(gateway) == []
    assert names(gateway) == []
    assert script.count("tools/list") == 1
    script.raw.clear()
    now[0] += remote_lists.RETRY_SECONDS + 1
    assert names(gateway) == ["far_drop", "far_show"]


def test_pins_stand_in_for_a_server_that_does_not_answer(far):
    gateway = pinned(far, Script(raw={"tools/list": answer(b"{}", status=500)}), [tool("show")])
    assert names(gateway) == ["far_show"]


def drip(received, sock):
    """A byte now and then, for ever."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{")
    sock.settimeout(0.01)
    with suppress(OSError):
        while True:
            with suppress(TimeoutError):
                if not sock.recv(1):
                    return
            sock.sendall(b" ")


@each("speak", [lambda received, sock: None, drip])
def test_a_slow_server_costs_a_bounded_time(far, monkeypatch, speak):
    monkeypatch.setattr(remote_lists, "LIST_SECONDS", 0.2)
    gateway = far(Script(raw={"tools/list": speak}))
    assert names(gateway) == []


@pytest.mark.parametrize("modern_era", [True, False])
def test_a_server_that_changes_its_era_is_found_out(far, modern_era):
    now = [1000.0]
    script = Script(modern=modern_era)
    gateway = far(script, monotonic=lambda: now[0])
    names(gateway)
    script.modern = not modern_era
    now[0] += 10_000
    names(gateway)
    now[0] += 100
    assert names(gateway) == ["far_drop", "far_show"]
    assert gateway.text("far_show", {"id": "1"}, token=ALICE) == '{"id": "1"}'
