"""Search among tools: the stated ranking."""

from engine.mcp.protocol.search import SEARCH_TOOLS, SearchIndex, matches_document, words_of
from tests.support.each import each
from tests.support.tools import new_tool

TOOLS = [
    new_tool("createOrder", "Places an order for a customer", properties={"sku": {}}),
    new_tool("listOrders", "Lists what was ordered", title="All orders"),
    new_tool("get_customer", "Shows a customer"),
    new_tool("order", "Shows one"),
    new_tool("upload", "Sends a file with its SKU and a long text about orders and other things"),
]
NAMES = [tool.name for tool in TOOLS]


def found(query, visible=NAMES, limit=5):
    return [tool.name for tool in SearchIndex(TOOLS).find(query, visible, limit)]


@each(
    "text, words",
    [
        ("createOrder", ["create", "order"]),
        ("HTTPServer_list-items", ["http", "server", "list", "item"]),
        (
            "categories of 12 buses, class status",
            ["category", "of", "12", "buse", "class", "status"],
        ),
        ("größeÄndern", ["größeändern"]),
        ("", []),
    ],
)
def test_words_end_at_capitals_and_are_singular(text, words):
    assert words_of(text) == words


@each(
    "query, names",
    [
        ("create order", ["createOrder", "order", "listOrders", "upload"]),
        ("order", ["order", "listOrders", "createOrder", "upload"]),
        ("listorders", ["listOrders"]),
        ("sku", ["createOrder", "upload"]),
        ("CUSTOMERS", ["get_customer", "createOrder"]),
        ("nothing like it", []),
        ("", NAMES),
        ("?!", NAMES),
    ],
)
def test_the_best_come_first(query, names):
    assert found(query)[: len(names)] == names


def test_only_visible_tools_are_found_and_so_many():
    assert found("order", {"upload", "listOrders"}) == ["listOrders", "upload"]
    assert found("order", limit=1) == ["order"]
    assert found("", {"upload"}) == ["upload"]


def test_no_tools_no_matches():
    assert SearchIndex([]).find("x", (), 5) == []


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


def test_only_the_beginning_of_a_query_is_read():
    assert found(f"{'é' * 1_000} upload") == ["upload"]
    assert found(f"{'é' * 2_000} upload") == []
