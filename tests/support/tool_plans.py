"""Plans with an MCP server over a small shop, for tests of tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.mcp.tool import Tool, tools_of
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import Plan, PlanResult
from engine.spec.request_writer import WrittenRequest
from tests.support import yaml_text

DOCUMENT = """
openapi: 3.0.3
info: {title: Shop, version: "1"}
servers: [{url: /v1}]
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      operationId: getOrder
      summary: Get an order
      description: It is <b>found</b> by its [id](https://x.example.com/id).
      parameters:
        - {name: id, in: query, schema: {type: integer}, description: Another id}
        - {name: "expand[]", in: query, schema: {type: array, items: {type: string}}}
        - {name: where, in: query, style: deepObject, schema: {type: object}}
        - {name: X-Version, in: header, required: true, schema: {type: string, enum: ["1", "2"]}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: seen, in: cookie, schema: {type: string}}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: array}}}}}
    delete: {operationId: deleteOrder, responses: {"204": {description: ok}}}
  /orders:
    post:
      operationId: createOrder
      requestBody:
        required: true
        content:
          application/xml: {}
          application/json: {schema: {$ref: "#/components/schemas/Order"}}
      responses:
        "201":
          description: ok
          content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}
  /files:
    post:
      operationId: upload
      requestBody:
        content:
          multipart/form-data:
            schema:
              type: object
              required: [file]
              properties:
                file: {type: string, format: binary, description: A file}
                more: {type: array, items: {type: string, format: binary}}
                tags: {type: array, items: {type: string}}
                meta: {type: object, properties: {a: {type: integer}}}
      responses: {"200": {description: ok}}
  /forms:
    post:
      operationId: form
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              properties:
                expand: {type: array, items: {type: string}}
                metadata: {type: object, additionalProperties: {type: string}}
                amount: {type: integer}
            encoding: {expand: {style: deepObject, explode: true}}
      responses: {"200": {description: ok}}
  /bytes:
    put:
      operationId: bytes
      requestBody: {required: true, content: {application/pdf: {schema: {format: binary}}}}
      responses: {"200": {description: ok}}
  /images:
    put:
      operationId: images
      requestBody:
        required: true
        content: {image/png: {}, image/jpeg: {}}
      responses: {"200": {description: ok}}
  /notes:
    put:
      operationId: note
      requestBody: {required: true, content: {text/plain: {schema: {type: string}}}}
      responses: {"200": {description: ok}}
  /talk: {get: {operationId: talk, responses: {"101": {description: a session}}}}
components:
  schemas:
    Order:
      type: object
      required: [id, item, quantity]
      properties:
        id: {type: string, readOnly: true}
        item: {type: string, nullable: true, description: To <b>buy</b>, x-mcp-header: X-Item}
        quantity: {type: integer, format: int32, minimum: 0, exclusiveMinimum: true}
        secret: {type: string, writeOnly: true}
        currency: {$ref: "#/components/schemas/Currency"}
        parent: {$ref: "#/components/schemas/Order"}
    Currency: {type: string, enum: [EUR, USD], description: A currency}
"""


def plan_result(
    folder: Path, mcp: dict[str, Any], document: str = DOCUMENT, **sections: Any
) -> PlanResult:
    """The result of planning a gateway with these servers."""
    (folder / "shop.yaml").write_text(document)
    config = {
        "version": 1,
        "specs": {"shop": {"document": "shop.yaml"}},
        "upstreams": {"main": {"url": "http://127.0.0.1:9"}},
        "routes": [{"operations": "shop.*", "to": [{"upstream": "main"}], "auth": "none"}],
        "mcp": mcp,
        **sections,
    }
    return make_plan(folder / "gateway.yaml", {}, yaml_text.dump(config))


def shop_plan(folder: Path, document: str = DOCUMENT, **server: Any) -> Plan:
    """The plan of a gateway whose server `shop` has all operations."""
    mcp = {"shop": {"path": "/mcp", "operations": ["shop.*"], **server}}
    result = plan_result(folder, mcp, document)
    assert result.plan is not None, [str(problem) for problem in result.findings.errors]
    return result.plan


def shop_tools(plan: Plan) -> dict[str, Tool]:
    """The tools of the server `shop` by name."""
    return {tool.name: tool for tool in tools_of(plan, plan.config.mcp["shop"])}


def written(plan: Plan, tool: Tool, arguments: dict[str, Any]) -> WrittenRequest:
    """The request of a call of a tool."""
    operation = tool.route.operation
    writer = plan.specifications[operation.spec].writer(operation, tool.route.slash_variables)
    return writer.write(tool.values(arguments))
