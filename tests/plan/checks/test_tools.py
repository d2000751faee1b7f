"""Changes of arguments that have no effect, or make no call possible, are errors."""

from tests.support.each import each
from tests.support.tool_plans import plan_result


@each(
    ("operation", "arguments", "words"),
    [
        ("getOrder", {"X-version": {"value": "1"}}, "'X-version' is not an argument of shop."),
        ("getOrder", {"body": {"value": 1}}, "'body' is not an argument of shop.getOrder"),
        ("getOrder", {"X-Version": {"hide": True}}, "'X-Version' of shop.getOrder is required"),
        ("getOrder", {"X-Version": {"value": "3"}}, "this value is refused: "),
        ("createOrder", {"body.itme": {"value": "x"}}, "'body.itme' is not an argument of"),
        ("createOrder", {"body.item": {"hide": True}}, "'body.item' of shop.createOrder is req"),
        ("createOrder", {"body.quantity": {"value": 0}}, "this value is refused: "),
        ("createOrder", {"body": {"hide": True}}, "'body' of shop.createOrder is required"),
    ],
)
def test_a_mistake_has_its_message(operation, arguments, words, tmp_path_factory):
    tools = {f"shop.{operation}": {"arguments": arguments}}
    mcp = {"shop": {"path": "/mcp", "operations": ["shop.*"], "tools": tools}}
    (problem,) = plan_result(tmp_path_factory.mktemp("plan"), mcp).findings.errors
    assert problem.code == "MW339"
    assert problem.message.startswith(words)
    assert problem.place.line > 1


def test_a_change_of_a_wildcard_is_for_the_tools_that_have_the_argument(tmp_path):
    tools = {"shop.*": {"arguments": {"X-Version": {"value": "2"}, "body.quantity": {"value": 2}}}}
    mcp = {"shop": {"path": "/mcp", "operations": ["shop.*"], "tools": tools}}
    assert plan_result(tmp_path, mcp).findings.errors == []
    tools["shop.*"]["arguments"] = {"nothing": {"value": 1}}
    (problem,) = plan_result(tmp_path, mcp).findings.errors
    assert problem.message == "'nothing' is not an argument of shop.*"
