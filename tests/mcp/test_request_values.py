"""Arguments become the values of a request; what cannot be a call is refused with its place."""

import dataclasses

import pytest
from msgspec.structs import replace

from engine.mcp.listed_tool import InvalidArguments
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.tool_plans import DOCUMENT, shop_plan, shop_tools, written

GET = {"id": "7", "X-Version": "1"}
ORDER = {"item": "tea", "quantity": 2}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    changes = {
        "shop.getOrder": {"arguments": {"seen": {"hide": True}}},
        "shop.createOrder": {"arguments": {"body.currency": {"value": "EUR"}}},
        "shop.form": {"arguments": {"body.amount": {"value": 5}, "body.expand": {"hide": True}}},
    }
    return shop_plan(tmp_path_factory.mktemp("plan"), tools=changes)


@pytest.fixture(scope="module")
def tools(plan):
    return shop_tools(plan)


def test_each_argument_is_at_its_place_in_the_request(plan, tools):
    arguments = {**GET, "query_id": 5, "expand": ["a b", "c"], "where": {"x": {"y": 1}}}
    request = written(plan, tools["getOrder"], arguments)
    assert request.target == (
        "/v1/orders/7?id=5&expand%5B%5D=a%20b&expand%5B%5D=c&where%5Bx%5D%5By%5D=1"
    )
    assert request.headers == (("X-Version", "1"),)


def test_values_of_the_config_are_always_sent(plan, tools):
    body = written(plan, tools["createOrder"], {"body": ORDER}).body
    assert body == b'{"item":"tea","quantity":2,"currency":"EUR"}'
    assert written(plan, tools["form"], {}).body == b"amount=5"
    assert "currency" not in tools["createOrder"].input_schema["properties"]["body"]["properties"]
    assert "seen" not in tools["getOrder"].input_schema["properties"]


def test_null_is_no_value_of_a_parameter(plan, tools):
    request = written(plan, tools["getOrder"], {**GET, "query_id": None})
    assert request.target == "/v1/orders/7"


@each(
    ("tool", "arguments", "place", "message"),
    [
        ("getOrder", {"id": "7"}, "X-Version", "it is required"),
        ("getOrder", {**GET, "Id": 1}, "Id", "no such argument; did you mean 'id'?"),
        ("getOrder", {**GET, "seen": "x"}, "seen", "no such argument"),
        ("getOrder", {**GET, "query_id": "x"}, "query_id", "expected an integer"),
        ("getOrder", {**GET, "X-Version": "3"}, "X-Version", "expected one of 1, 2"),
        ("getOrder", {**GET, "id": ".."}, "id", "'..' is no segment of a path"),
        ("getOrder", {**GET, "id": ""}, "id", "'' is no segment of a path"),
        ("getOrder", [], "", "the arguments must be an object"),
        ("createOrder", {}, "body", "missing"),
        ("createOrder", {"body": {**ORDER, "quantity": 0}}, "body.quantity", "more than 0"),
        ("createOrder", {"body": {**ORDER, "parent": {"item": 1}}}, "body.parent.", ""),
        ("createOrder", {"body": {**ORDER, "currency": "USD"}}, "body.currency", "no such member"),
        ("createOrder", {"body": "x"}, "body", "expected an object"),
        ("form", {"body": {"expand": ["x"]}}, "body.expand", "no such member"),
        ("note", {}, "body", "it is required"),
    ],
)
def test_a_mistake_has_its_place(tools, tool, arguments, place, message):
    with pytest.raises(InvalidArguments) as excinfo:
        tools[tool].values(arguments)
    assert excinfo.value.place.startswith(place)
    assert message in excinfo.value.message or message == "missing"


def test_a_value_that_takes_too_long_to_judge_is_a_mistake_at_its_place(tools):
    tool = tools["getOrder"]
    arguments = {**tool.arguments.arguments}
    arguments["query_id"] = replace(arguments["query_id"], validator=_TooCostly())
    costly = dataclasses.replace(tool.arguments, arguments=arguments)
    with pytest.raises(InvalidArguments, match=r"^query_id: The value takes too long"):
        costly.request_values({**GET, "query_id": 5})


class _TooCostly:
    """A validator of values that it does not judge."""

    def is_valid(self, value):
        raise GatewayError(400, "too_complex", "The value takes too long to check.")


@each(
    "arguments",
    [
        {**GET, "id": "../../admin"},
        {**GET, "id": "a?b=c#d"},
        {**GET, "id": "a/b\\c%2e%2e"},
        {**GET, "expand": ["x&id=9", "y=z"]},
        {**GET, "where": {"x&id": "9&z=1"}},
    ],
)
def test_no_argument_leaves_its_place(plan, tools, arguments):
    request = written(plan, tools["getOrder"], arguments)
    path, _, query = request.target.partition("?")
    assert path.count("/") == 3
    assert "#" not in request.target
    names = {pair.partition("=")[0] for pair in query.split("&") if pair}
    assert names <= {"expand%5B%5D", "where%5Bx%26id%5D"}


@each("value", ["1\r\nX-Admin: 1", "1\n", "\u00e9", "1\0"])
def test_no_value_ends_its_header(tmp_path_factory, value):
    document = DOCUMENT.replace(', enum: ["1", "2"]', "")
    plan = shop_plan(tmp_path_factory.mktemp("plan"), document)
    with pytest.raises(ValueError, match="X-Version"):
        written(plan, shop_tools(plan)["getOrder"], {**GET, "X-Version": value})
