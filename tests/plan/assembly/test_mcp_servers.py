"""The operations of MCP servers and the names of their tools; mistakes have their place."""

import pytest

from tests.support.each import each
from tests.support.tool_plans import DOCUMENT, plan_result


def problems(folder, **server):
    mcp = {"shop": {"path": "/mcp", "operations": ["shop.*"], **server}}
    findings = plan_result(folder, mcp).findings
    return [f"{p.code} {p.message} | {p.hint}" for p in findings.problems if p.code[:4] == "MW33"]


def names(result, server="shop"):
    return [named.name for named in result.plan.tools[server]]


def test_the_tools_are_in_the_order_of_their_names_without_websockets(tmp_path):
    result = plan_result(
        tmp_path,
        {"shop": {"path": "/mcp", "operations": ["shop.*", "!shop.*Order"],
                  "tools": {"shop.note": {"name": "a_note"}, "shop.form": {"hide": True}}}},
    )  # fmt: skip
    assert names(result) == ["a_note", "bytes", "images", "upload"]


def test_the_routes_of_tools_are_those_that_are_served(tmp_path):
    plan = plan_result(tmp_path, {"shop": {"path": "/mcp", "operations": ["shop.note"]}}).plan
    assert plan.tools["shop"][0].route in plan.routes


def test_two_documents_with_the_same_names_are_both_listed_with_a_warning(tmp_path):
    (tmp_path / "other.yaml").write_text(DOCUMENT)
    result = plan_result(
        tmp_path,
        {"shop": {"path": "/mcp", "operations": ["*.note"]}},
        specs={"shop": {"document": "shop.yaml"}, "abc": {"document": "other.yaml", "mount": "/o"}},
        routes=[{"operations": ["shop.*", "abc.*"], "to": [{"upstream": "main"}]}],
    )
    assert names(result) == ["note", "shop_note"]
    assert [p.code for p in result.findings.problems if p.code == "MW337"] == ["MW337"]


@each(
    ("server", "words"),
    [
        ({"operations": ["shop.notes"]}, "MW335 unknown operation 'shop.notes' | did you mean"),
        ({"operations": ["shops.*"]}, "MW335 'shops.*' matches no operation"),
        ({"operations": ["shop.talk"]}, "MW335 shop.talk is a WebSocket, which cannot be a tool"),
        ({"tools": {"shop.notes": {"hide": True}}}, "MW335 'shop.notes' is not an operation of"),
        ({"tools": {"shop.*": {"name": "x"}}}, "MW335 'name' is not for a wildcard"),
        (
            {"tools": {"shop.note": {"name": "X"}, "shop.form": {"name": "x"}}},
            "MW336 two tools named",
        ),
        ({"path": "/v1/orders"}, "MW338 /v1/orders is the path of shop.createOrder"),
        ({"path": "/healthz"}, "MW338 /healthz is the path of the gateway's own page"),
        ({"path": "/docs"}, "MW338 /docs is the path of the gateway's reference"),
        ({"path": "/a/sse"}, "MW338 '/a/sse' ends in /sse"),
    ],
)
def test_a_mistake_has_its_message(server, words, tmp_path_factory):
    (problem,) = problems(tmp_path_factory.mktemp("plan"), **server)
    assert problem.startswith(words)


def test_a_websocket_may_be_taken_away(tmp_path):
    assert problems(tmp_path, operations=["shop.*", "!shop.talk"]) == []


def test_a_websocket_that_has_an_answer_too_is_a_tool(tmp_path):
    responses = 'responses: {"101": {description: a session}'
    assert responses in DOCUMENT
    document = DOCUMENT.replace(responses, responses + ', "200": {description: ok}')
    mcp = {"shop": {"path": "/mcp", "operations": ["shop.talk"]}}
    result = plan_result(tmp_path, mcp, document)
    assert result.findings.errors == []
    assert names(result) == ["talk"]


def test_an_operation_without_a_route_is_no_tool(tmp_path):
    routes = [{"operations": ["shop.note"], "to": [{"upstream": "main"}]}]
    mcp = {"shop": {"path": "/mcp", "operations": ["shop.form"]}}
    findings = plan_result(tmp_path, mcp, routes=routes).findings
    assert [p.message for p in findings.errors] == ["no route serves 'shop.form'"]


def test_two_servers_have_two_paths(tmp_path):
    mcp = {name: {"path": f"/mcp{end}", "operations": ["shop.note"]}
           for name, end in (("a", ""), ("b", "/x"))}  # fmt: skip
    assert plan_result(tmp_path, mcp).plan is not None
    mcp["b"]["path"] = "/mcp"
    (problem,) = plan_result(tmp_path, mcp).findings.errors
    assert (problem.code, problem.message) == ("MW338", "two servers at /mcp")


@pytest.mark.parametrize("path", ["mcp", "/mcp/", "/mcp?x", "/mcp/{id}"])
def test_a_path_is_plain(tmp_path, path):
    assert plan_result(tmp_path, {"a": {"path": path, "operations": ["shop.note"]}}).plan is None
