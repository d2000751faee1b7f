"""Schemas of the arguments of tools."""

from __future__ import annotations

import jsonschema_rs

from tests.support.tool_plans import shop_plan, shop_tools

HEAD = """
openapi: {version}
info: {{title: t, version: "1"}}
paths:
  /a:
    post:
      operationId: put
      requestBody: {{required: true, content: {{application/json: {{schema: {schema}}}}}}}
      responses: {{"200": {{description: ok}}}}
"""
COMPONENTS = """
components:
  schemas:
    Small: {type: string, enum: [a, b]}
    Tree: {type: object, properties: {left: {$ref: "#/components/schemas/Tree"}}}
    "odd name": {type: object, properties: {x: {type: integer}}}
    Cat: {type: object, required: [kind], properties: {kind: {type: string}, meow: {type: integer}}}
    Dog: {type: object, required: [kind], properties: {kind: {type: string}, bark: {type: integer}}}
"""


def input_schema(folder, schema, version="3.0.3"):
    document = HEAD.format(version=version, schema=schema) + COMPONENTS
    tool = shop_tools(shop_plan(folder, document))["put"]
    jsonschema_rs.Draft202012Validator(tool.input_schema)
    return tool.input_schema
