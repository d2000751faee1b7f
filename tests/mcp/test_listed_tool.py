"""The entry of a tool in a list, and its size."""

import json

from msgspec.structs import replace

from engine.mcp.listed_tool import InvalidArguments, context_tokens, list_entry
from tests.support.tool_plans import shop_plan, shop_tools


def test_an_entry_has_only_what_a_tool_has(tmp_path):
    tool = shop_tools(shop_plan(tmp_path, output_schemas=True))["createOrder"]
    tool = replace(tool, title="Order")
    members = {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
    assert list_entry(tool).keys() == members
    bare = replace(tool, title="", output_schema=None)
    assert list_entry(bare).keys() == members - {"title", "outputSchema"}


def test_about_four_bytes_are_a_token(tmp_path):
    for tool in shop_tools(shop_plan(tmp_path)).values():
        size = len(json.dumps(list_entry(tool)))
        assert size / 5 < context_tokens(tool) < size / 3


def test_a_refusal_says_its_place_if_it_has_one():
    assert str(InvalidArguments("body.a", "it is required")) == "body.a: it is required"
    assert str(InvalidArguments("", "the arguments must be an object")).startswith("the arguments")
