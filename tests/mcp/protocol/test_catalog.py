"""The list of a server: what a token may call, in a fixed order, in pages that are made once."""

import json
import time

import pytest

from engine.mcp.listed_tool import list_entry
from engine.mcp.protocol import catalog as module
from engine.mcp.protocol.catalog import MAX_PAGE_TOOLS, Catalog
from engine.mcp.protocol.json_rpc import Code, ProtocolError
from engine.values.caller import Caller
from tests.support.each import each
from tests.support.loop_turns import loop_turns
from tests.support.tools import new_tool

TOOLS = [new_tool("create"), new_tool("show", title="Show"), new_tool("chat")]


def catalog_of(tools=TOOLS, search_above=40, may_use=lambda caller, tool: True):
    return Catalog(tools, may_use, search_above)


def page_of(catalog, caller=None, cursor=""):
    return json.loads(b"{" + catalog.page(catalog.visible(caller), cursor) + b"}")


def names_of(page):
    return [tool["name"] for tool in page["tools"]]


@each(
    "caller, names",
    [
        (None, ["create", "show", "chat"]),
        (Caller("all"), ["create", "show", "chat"]),
        (Caller("one", operations=("shop.show",)), ["show"]),
        (Caller("wild", operations=("shop.c*",)), ["create", "chat"]),
        (Caller("none", operations=()), []),
        (Caller("models", models=("small",)), ["create", "show"]),
    ],
)
def test_a_token_sees_what_it_may_call(caller, names):
    catalog = catalog_of(may_use=lambda who, tool: who.models is None or tool.name != "chat")
    assert names_of(page_of(catalog, caller)) == [*catalog.visible(caller).tools] == names


def test_tokens_with_the_same_scope_share_a_page():
    catalog = catalog_of()
    first, second = (catalog.visible(Caller(name, operations=("shop.*",))) for name in "ab")
    assert catalog.page(first, "") is catalog.page(second, "")


def test_a_tool_is_listed_as_it_lists_itself():
    assert page_of(catalog_of())["tools"][1] == list_entry(TOOLS[1])


def test_of_too_many_tools_two_are_listed():
    catalog = catalog_of(search_above=2)
    assert names_of(page_of(catalog)) == ["search_tools", "call_tool"]
    assert catalog.visible(None).is_searched
    few = Caller("few", operations=("shop.show", "shop.chat"))
    assert names_of(page_of(catalog, few)) == ["show", "chat"]
    assert [tool.name for tool in catalog.search(catalog.visible(few), "show create", 5)] == [
        "show"
    ]


def test_pages_are_bounded_and_lead_to_the_next(monkeypatch):
    monkeypatch.setattr(module, "MAX_PAGE_TOOLS", 2)
    catalog = catalog_of()
    first = page_of(catalog)
    second = page_of(catalog, cursor=first["nextCursor"])
    assert (names_of(first), names_of(second)) == (["create", "show"], ["chat"])
    assert "nextCursor" not in second


def test_all_pages_of_a_list_are_made_at_once(monkeypatch):
    names = []
    monkeypatch.setattr(module, "MAX_PAGE_TOOLS", 2)
    monkeypatch.setattr(module, "list_entry", lambda tool: names.append(tool.name) or {})
    catalog = catalog_of()
    first = page_of(catalog)
    page_of(catalog, cursor=first["nextCursor"])
    for cursor in ("x", first["nextCursor"] + "0"):
        with pytest.raises(ProtocolError):
            page_of(catalog, cursor=cursor)
    assert names == ["create", "show", "chat"]


def test_a_page_has_a_tool_even_if_that_is_large(monkeypatch):
    monkeypatch.setattr(module, "MAX_PAGE_BYTES", 10)
    first = page_of(catalog_of())
    assert names_of(first) == ["create"]


@each(
    "cursor",
    ["x", "x.1", "0", "{digest}.0", "{digest}.3", "{digest}.-1", "{digest}.1e", "{digest}.²"],
)
def test_a_cursor_of_another_list_is_refused(cursor):
    catalog = catalog_of([new_tool(f"t{n}") for n in range(MAX_PAGE_TOOLS + 1)], 10_000)
    digest = page_of(catalog)["nextCursor"].partition(".")[0]
    other = catalog_of(TOOLS)
    with pytest.raises(ProtocolError) as raised:
        page_of(other, cursor=cursor.replace("{digest}", digest))
    assert raised.value.code == Code.INVALID_PARAMS


def test_the_loop_turns_between_the_tools_of_a_page():
    catalog = catalog_of([new_tool(f"tool_{number}") for number in range(50)], 100)
    visible = catalog.visible(None)
    assert loop_turns(lambda: catalog.page(visible, "")) >= 40
    assert loop_turns(lambda: catalog.page(visible, "")) <= 1


def test_a_list_of_a_thousand_tools_takes_less_than_a_millisecond():
    schema = {f"argument_{n}": {"type": "string", "description": "d" * 40} for n in range(8)}
    tools = [new_tool(f"tool_{n}", "Does it. " * 9, properties=schema) for n in range(1_000)]
    catalog, caller = catalog_of(tools, 2_000), Caller("a", operations=("shop.*",))
    page_of(catalog, caller)
    start = time.process_time()
    for _ in range(100):
        catalog.page(catalog.visible(caller), "")
    assert (time.process_time() - start) / 100 < 0.001
