"""Titles, descriptions and annotations of tools."""

from engine.mcp.descriptions import MAX_DESCRIPTION
from tests.support.tool_plans import DOCUMENT, shop_plan, shop_tools


def test_a_description_is_the_summary_and_the_description(tmp_path):
    tools = shop_tools(shop_plan(tmp_path))
    assert tools["getOrder"].title == "Get an order"
    assert tools["getOrder"].description == "Get an order. It is found by its id."
    assert (tools["form"].title, tools["form"].description) == ("", "POST /forms")


def test_a_description_is_bounded(tmp_path):
    long = DOCUMENT.replace("summary: Get an order", f"summary: {'word ' * 900}")
    tool = shop_tools(shop_plan(tmp_path, long))["getOrder"]
    assert len(tool.description) <= MAX_DESCRIPTION
    assert tool.description.startswith("word word")


def test_the_config_replaces_what_models_read(tmp_path):
    changes = {"shop.getOrder": {"title": "T", "description": "D", "read_only": False}}
    tool = shop_tools(shop_plan(tmp_path, tools=changes))["getOrder"]
    assert (tool.title, tool.description) == ("T", "D")
    assert tool.annotations["readOnlyHint"] is False


def test_the_annotations_follow_the_method(tmp_path):
    tools = shop_tools(shop_plan(tmp_path))
    assert tools["getOrder"].annotations == {"readOnlyHint": True, "openWorldHint": True}
    assert tools["deleteOrder"].annotations == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": True,
        "openWorldHint": True,
    }
    assert tools["createOrder"].annotations == {
        "readOnlyHint": False,
        "idempotentHint": False,
        "openWorldHint": True,
    }
