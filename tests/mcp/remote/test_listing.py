"""Definitions of other servers, made fit for clients."""

import pytest

from engine.config.mcp import McpServer, ToolServer
from engine.mcp.remote.listing import listing_of, pinned_listing, remote_tools, unique
from tests.plan.test_tool_servers import CONFIG, planned
from tests.support.each import each
from tests.support.mcp_upstreams import tool

ENTRY = McpServer("all", "/mcp", (), ())


@pytest.fixture(scope="module")
def upstream(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("far"), CONFIG).plan.tool_upstreams["far"]


def made(upstream, *tools, prefix="far_", patterns=(), entry=ENTRY):
    listing = listing_of(upstream, [{"tools": [*tools]}])
    return remote_tools(listing, ToolServer("far", prefix, patterns, ()), upstream, entry)


def test_only_hints_that_are_known_pass(upstream):
    hints = {"readOnlyHint": True, "destructiveHint": "no", "other": True}
    (found,) = made(upstream, tool("show", annotations=hints))
    assert found.annotations == {"readOnlyHint": True}


def test_the_schema_of_results_is_listed_if_the_config_says_so(upstream):
    entry = McpServer("all", "/mcp", (), (), output_schemas=True)
    definition = tool("show", outputSchema={"type": "object"})
    assert made(upstream, definition)[0].output_schema is None
    assert made(upstream, definition, entry=entry)[0].output_schema == {"type": "object"}


def test_the_last_pattern_that_matches_decides(upstream):
    tools = [tool(name) for name in ("get", "get_all", "set")]
    found = made(upstream, *tools, patterns=("get*", "!get_all"))
    assert [each.remote for each in found] == ["get"]


def test_a_name_that_is_taken_gets_a_digest(upstream):
    found = unique(made(upstream, tool("show")), ["FAR_SHOW"], "all")
    assert found[0].name.startswith("far_show_")
    assert found[0].remote == "show"
    searched = unique(made(upstream, tool("search_tools"), prefix=""), [], "all")
    assert searched[0].name != "search_tools"


def test_equal_lists_have_equal_digests(upstream):
    first = listing_of(upstream, [{"tools": [tool("a"), tool("b")]}])
    assert first.digest == listing_of(upstream, [{"tools": [tool("b"), tool("a")]}]).digest
    assert first.digest != listing_of(upstream, [{"tools": [tool("b")]}]).digest


@each("ttl, seconds", [(60_000, 60.0), (-1, 0.0), ("x", 0.0), (True, 0.0), (10**20, 0.0)])
def test_only_a_sensible_time_to_live_counts(upstream, ttl, seconds):
    assert listing_of(upstream, [{"tools": [], "ttlMs": ttl}]).seconds == seconds


def test_without_pins_nothing_stands_in_for_a_list(upstream):
    assert pinned_listing(upstream).tools == []
