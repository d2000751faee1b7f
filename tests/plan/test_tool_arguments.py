"""The arguments of tools: names that vendors take, each one parameter."""

from tests.support.tool_plans import shop_plan, shop_tools


def test_every_parameter_is_an_argument_of_a_name_that_vendors_take(tmp_path):
    tool = shop_tools(shop_plan(tmp_path))["getOrder"]
    assert [(a.name, a.location, a.parameter) for a in tool.arguments.arguments.values()] == [
        ("id", "path", "id"),
        ("query_id", "query", "id"),
        ("expand", "query", "expand[]"),
        ("where", "query", "where"),
        ("X-Version", "header", "X-Version"),
        ("seen", "cookie", "seen"),
    ]


def test_a_parameter_named_body_leaves_the_name_to_the_body(tmp_path):
    document = """
openapi: 3.1.0
info: {title: t, version: "1"}
paths:
  /{body}:
    post:
      operationId: put
      requestBody: {content: {application/json: {schema: {type: object, minProperties: 1}}}}
      responses: {"200": {description: ok}}
  /empty:
    get:
      operationId: empty
      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object}}}}
      responses: {"200": {description: ok}}
"""
    tools = shop_tools(shop_plan(tmp_path, document))
    assert tools["put"].arguments.names() == ["path_body", "body"]
    assert tools["empty"].arguments.names() == []  # as in Stripe's document


def test_a_parameter_with_the_token_of_callers_is_no_argument(tmp_path):
    document = """
openapi: 3.1.0
info: {title: t, version: "1"}
components: {securitySchemes: {k: {type: apiKey, in: query, name: key}}}
security: [{k: []}]
paths:
  /a:
    get:
      operationId: get
      parameters:
        - {name: key, in: query, required: true, schema: {type: string}}
        - {name: X-Api-Key, in: header, schema: {type: string}}
        - {name: q, in: query, schema: {type: string}}
      responses: {"200": {description: ok}}
"""
    assert shop_tools(shop_plan(tmp_path, document))["get"].arguments.names() == ["q"]
