"""The tools of a server: what is listed, and that each call is one request."""

import json

import jsonschema_rs

from engine.mcp.listed_tool import list_entry
from engine.mcp.tool import tools_and_refusals, tools_of
from tests.support.each import each
from tests.support.tool_plans import shop_plan, shop_tools


def test_every_operation_is_a_tool_whose_schemas_are_objects_and_valid(tmp_path):
    tools = shop_tools(shop_plan(tmp_path, output_schemas=True))
    assert [*tools] == [
        *("bytes", "createOrder", "deleteOrder", "form", "getOrder", "images", "note", "upload")
    ]
    for tool in tools.values():
        entry = list_entry(tool)
        assert entry["inputSchema"]["type"] == "object"
        assert entry["inputSchema"]["additionalProperties"] is False
        jsonschema_rs.Draft202012Validator(entry["inputSchema"])


def test_schemas_of_answers_are_listed_if_they_are_wanted_and_objects(tmp_path):
    assert shop_tools(shop_plan(tmp_path))["createOrder"].output_schema is None
    tools = shop_tools(shop_plan(tmp_path, tools={"shop.*": {"output_schema": True}}))
    assert tools["createOrder"].output_schema["type"] == "object"
    assert tools["getOrder"].output_schema is None  # an array


@each(("parts", "is_listed"), [(50, True), (200, False)])
def test_schemas_of_answers_are_bounded(tmp_path, parts, is_listed):
    schemas = {
        f"P{n}": {
            "type": "object",
            "description": "d" * 1_000,
            "properties": {"next": {"$ref": f"#/components/schemas/P{n + 1}"}},
        }
        for n in range(parts)
    }
    schemas[f"P{parts}"] = {"type": "string"}
    first = {"schema": {"$ref": "#/components/schemas/P0"}}
    answers = {"200": {"description": "ok", "content": {"application/json": first}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "paths": {"/a": {"get": {"operationId": "find", "responses": answers}}},
        "components": {"schemas": schemas},
    }
    plan = shop_plan(tmp_path, json.dumps(document), output_schemas=True)
    assert (shop_tools(plan)["find"].output_schema is not None) is is_listed


def test_lists_are_equal_in_every_process(tmp_path):
    plan = shop_plan(tmp_path, output_schemas=True)
    server = plan.config.mcp["shop"]
    first, second = ([list_entry(t) for t in tools_of(plan, server)] for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def test_a_body_that_the_config_fills_is_not_required(tmp_path):
    document = """
openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /a:
    post:
      operationId: put
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, required: [a], properties: {a: {type: string}, b: {}}}
      responses: {"200": {description: ok}}
"""
    changes = {"shop.put": {"arguments": {"body.a": {"value": "x"}}}}
    tool = shop_tools(shop_plan(tmp_path, document, tools=changes))["put"]
    assert "required" not in tool.input_schema
    assert tool.values({}).body == {"a": "x"}


def test_an_operation_whose_body_cannot_be_written_is_no_tool(tmp_path):
    document = """
openapi: 3.2.0
info: {title: t, version: "1"}
paths:
  /a:
    put:
      operationId: put
      requestBody: {content: {multipart/mixed: {itemSchema: {}}}}
      responses: {"200": {description: ok}}
"""
    plan = shop_plan(tmp_path, document)
    tools, refusals = tools_and_refusals(plan, plan.config.mcp["shop"])
    assert (tools, refusals) == ((), {"shop.put": "the parts of multipart/mixed have no names"})
