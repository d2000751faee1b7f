"""`modelway tools`, `explain --tool`, and cases of tools."""

import json

import pytest

from tests.support import yaml_text
from tests.support.commands import modelway
from tests.support.tool_plans import plan_result

TESTS = [
    {
        "name": "an order",
        "request": {"tool": "create", "arguments": {"body": {"item": "tea", "quantity": 2}}},
        "expect": {"operation": "shop.createOrder", "status": 200, "body": {"currency": "EUR"}},
    },
    {
        "name": "no order",
        "request": {"tool": "create", "arguments": {"body": {"item": "tea", "quantity": 0}}},
        "expect": {"status": 400, "error": "invalid_arguments", "param": "body.quantity"},
    },
]
MCP = {
    "shop": {
        "path": "/mcp",
        "operations": ["shop.*"],
        "search_above": 3,
        "tools": {
            "shop.createOrder": {
                "name": "create",
                "arguments": {"body.currency": {"value": "EUR"}},
            }
        },
    },
    "small": {"path": "/small", "operations": ["shop.note"]},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MODELWAY_CONFIG", raising=False)
    plan_result(tmp_path, {})
    config = {
        "version": 1,
        "specs": {"shop": {"document": "shop.yaml"}},
        "upstreams": {"main": {"url": "http://127.0.0.1:9"}},
        "routes": [{"operations": "shop.*", "to": [{"upstream": "main"}], "auth": "none"}],
        "mcp": MCP,
        "tests": TESTS,
    }
    (tmp_path / "gateway.yaml").write_text(yaml_text.dump(config))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_tools_are_listed_with_their_size():
    lines = modelway("tools").output.splitlines()
    assert lines[0].startswith("shop at /mcp: 8 tools, about ")
    assert "more than search_above (3), so agents get search_tools and call_tool" in lines[1]
    assert lines[2].split() == ["TOOL", "OPERATION", "TOKENS", "EFFECT", "DESCRIPTION"]
    row = next(line.split() for line in lines if line.startswith("getOrder"))
    assert (row[1], row[3]) == ("shop.getOrder", "reads")
    assert any(line.startswith("small at /small: 1 tool, ") for line in lines)


@pytest.mark.usefixtures("folder")
def test_tools_are_json_as_agents_get_them():
    listed = json.loads(modelway("tools", "--json", "--server", "small").output)
    (tool,) = listed["servers"]["small"]
    assert (tool["name"], tool["operation"]) == ("note", "shop.note")
    assert tool["inputSchema"]["required"] == ["body"]
    assert json.loads(modelway("tools", "small/note").output) == tool


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "unknown tool 'nothing'"),
        (["note"], "several servers have a tool 'note'"),
        (["--server", "shops"], "unknown server 'shops'; did you mean 'shop'?"),
    ],
)
def test_an_unknown_name_is_wrong_usage(words, message):
    result = modelway("tools", *words)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.usefixtures("folder")
def test_explain_shows_the_request_of_a_call():
    arguments = json.dumps({"body": {"item": "tea", "quantity": 2}})
    result = modelway("explain", "--tool", "create", "--arguments", arguments)
    assert result.exit_code == 0
    assert "POST http://127.0.0.1:9/orders" in result.output
    result = modelway("explain", "--tool", "create", "--arguments", '{"body": {}}')
    assert result.exit_code == 1
    assert result.output.startswith("refused by the tool 'create' (shop.createOrder): body")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "write METHOD and PATH, or --tool and --arguments"),
        (["GET", "/x", "--tool", "create"], "write METHOD and PATH, or --tool and --arguments"),
        (["--tool", "create", "--arguments", "{"], "--arguments is not JSON"),
        (["--tool", "creat"], "unknown tool 'creat'; did you mean 'create'?"),
    ],
)
def test_explain_needs_a_request_or_a_tool(words, message):
    result = modelway("explain", *words)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.usefixtures("folder")
def test_cases_call_tools():
    result = modelway("test")
    assert (result.exit_code, result.output) == (
        0,
        "ok    an order\nok    no order\n2 passed\n",
    )


@pytest.mark.parametrize(
    ("request_of_case", "message"),
    [
        ({"tool": "creat"}, "unknown tool 'creat'; did you mean 'create'?"),
        ({"tool": "create", "path": "/x"}, "'path' and 'tool' together"),
        ({"path": "/x"}, "'method' is missing"),
        ({"method": "GET", "path": "/x", "arguments": {}}, "'arguments' are those of a tool"),
    ],
)
def test_a_mistake_in_a_case_has_its_place(folder, request_of_case, message):
    config = yaml_text.load((folder / "gateway.yaml").read_text())
    config["tests"][0]["request"] = request_of_case
    (folder / "gateway.yaml").write_text(yaml_text.dump(config))
    result = modelway("test")
    assert result.exit_code == 1
    assert message in result.output
