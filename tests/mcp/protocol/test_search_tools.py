"""The tools that search and call others."""

from engine.mcp.protocol.search_tools import SEARCH_TOOLS, matches_document
from tests.support.tools import new_tool


def test_both_have_a_schema_that_every_client_takes():
    assert [tool["name"] for tool in SEARCH_TOOLS] == ["search_tools", "call_tool"]
    for tool in SEARCH_TOOLS:
        assert tool["inputSchema"]["type"] == "object"
        assert tool["inputSchema"]["required"]


def test_matches_have_schemas_as_long_as_there_is_room():
    large = {"x": {"description": "d" * 150_000}}
    tools = [new_tool("a", "A"), new_tool("b", properties=large), new_tool("c", properties=large)]
    document = matches_document(tools, 7)
    assert document["searched"] == 7
    assert document["tools"][0] == {
        "name": "a",
        "description": "A",
        "inputSchema": tools[0].input_schema,
    }
    assert ["inputSchema" in match for match in document["tools"]] == [True, True, False]
