"""`mcp:` of gateway.yaml: which operations are tools, and the changes of each."""

from engine.config.mcp import read_mcp

SECTION = {
    "path": "/mcp",
    "operations": ["shop.*", "!shop.delete*", "shop.deleteDraft"],
    "tools": {
        "shop.*": {"output_schema": True, "arguments": {"version": {"value": "1"}}},
        "shop.get*": {"arguments": {"version": {"value": "2"}, "page": {"hide": True}}},
        "shop.getOrder": {"name": "get_order", "output_schema": False},
    },
}


def test_the_last_pattern_that_matches_decides():
    server = read_mcp("shop", SECTION)
    assert [server.takes(f"shop.{name}") for name in ("get", "deleteAll", "deleteDraft")] == [
        True,
        False,
        True,
    ]
    assert not server.takes("other.get")


def test_a_longer_name_of_changes_comes_after_a_shorter_one():
    changes = read_mcp("shop", SECTION).changes("shop.getOrder")
    assert (changes.name, changes.output_schema) == ("get_order", False)
    assert changes.arguments["version"].values == ("2",)
    assert changes.arguments["page"].hide
    assert changes.at == ("mcp", "shop", "tools", "shop.getOrder")


def test_a_value_of_null_is_a_value():
    section = {"path": "/a", "operations": ["a.b"], "tools": {"a.b": {"arguments": {}}}}
    section["tools"]["a.b"]["arguments"] = {"x": {"value": None}, "y": {"description": "d"}}
    arguments = read_mcp("a", section).changes("a.b").arguments
    assert (arguments["x"].values, arguments["y"].values) == ((None,), ())


def test_an_operation_without_an_entry_has_no_changes():
    changes = read_mcp("shop", {"path": "/a", "operations": ["a.b"]}).changes("a.b")
    assert (changes.name, changes.hide, changes.arguments) == ("", False, {})
