"""Calls of tools without a server: the tool of a name, and its request."""

import pytest

from engine.mcp.listed_tool import InvalidArguments
from engine.offline.rehearsal.tool_calls import CODE, find_tool, refusal_of, request_of
from tests.support.each import each
from tests.support.tool_plans import plan_result


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    mcp = {
        "a": {"path": "/a", "operations": ["shop.note", "shop.getOrder"]},
        "b": {"path": "/b", "operations": ["shop.note"]},
    }
    return plan_result(tmp_path_factory.mktemp("plan"), mcp).plan


def test_a_tool_is_found_by_its_name_and_by_that_of_its_server(plan):
    assert find_tool(plan, "getOrder").operation == "shop.getOrder"
    assert find_tool(plan, "b/note").operation == "shop.note"


@each(
    ("name", "words"),
    [
        ("note", "several servers have a tool 'note': write a/note or b/note"),
        ("getOrders", "unknown tool 'getOrders'; did you mean 'getOrder'?"),
        ("shop.getOrder", "unknown tool 'shop.getOrder'; did you mean 'getOrder'?"),
    ],
)
def test_an_unknown_name_has_a_hint(plan, name, words):
    with pytest.raises(ValueError, match="tool") as excinfo:
        find_tool(plan, name)
    assert str(excinfo.value) == words


def test_a_config_without_tools_says_so(tmp_path):
    plan = plan_result(tmp_path, {}).plan
    with pytest.raises(ValueError, match="the config has no tools of operations; write them"):
        find_tool(plan, "x")


def test_the_request_of_a_call(plan):
    tool = find_tool(plan, "getOrder")
    request = request_of(plan, tool, {"id": "7", "X-Version": "1"}, "192.0.2.1")
    assert (request.method, request.target, request.address) == (
        "GET",
        "/v1/orders/7",
        "192.0.2.1",
    )


def test_a_refusal_is_that_of_a_request():
    refusal = refusal_of(InvalidArguments("body.a", "it is required"))
    assert (refusal.status, refusal.code, refusal.param) == (400, CODE, "body.a")
    assert refusal_of(ValueError("no")).message == "no"
