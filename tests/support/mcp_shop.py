"""A shop whose operations are tools, for tests of MCP servers in an application."""

from engine.values.caller import digest

ALICE, BOB, CAROL, DAVE, ERIN = (f"mw-{letter * 64}" for letter in "12345")
CONFIG = f"""version: 1
specs: {{shop: {{document: shop.yaml}}}}
upstreams: {{main: {{url: "URL/v1", credential: {{bearer: sk-hush}}, proxy: ""}}}}
models: {{big: {{to: [{{upstream: main}}]}}, small: {{to: [{{upstream: main}}]}}}}
mcp:
  shop: {{path: /mcp, operations: ["shop.*", "!shop.drop"], output_schemas: true}}
  open: {{path: /open, operations: [shop.find]}}
  many: {{path: /many, operations: ["shop.*", "!shop.drop"], search_above: 1}}
tokens:
  - {{name: alice, sha256: {digest(ALICE)}}}
  - {{name: bob, sha256: {digest(BOB)}, operations: [shop.show], models: [small]}}
  - {{name: carol, sha256: {digest(CAROL)}, ips: [10.0.0.0/8]}}
  - {{name: dave, sha256: {digest(DAVE)}, models: [none]}}
  - {{name: erin, sha256: {digest(ERIN)}, models: [small]}}
routes:
  - {{operation: shop.find, to: [{{upstream: main}}], auth: none}}
  - {{operation: shop.chat, model: $request.body#/model}}
  - operation: shop.create
    to: [{{upstream: main}}]
    policies: [{{deny: {{if: {{body: {{sku: {{const: x}}}}}}, message: No x.}}}}]
  - operation: shop.rare
    to: [{{upstream: main}}]
    policies: [{{rate_limit: {{requests: 1, per: 1h}}}}]
  - {{operation: "shop.*", to: [{{upstream: main}}]}}
"""
DOCUMENT = """openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: /v1}]
security: [{bearer: []}]
paths:
  /items/{id}:
    get:
      operationId: show
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: fields, in: query, schema: {type: array, items: {type: string}}}
        - {name: X-Note, in: header, schema: {type: string}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: track, in: cookie, schema: {type: string}}
      responses:
        "200":
          description: ok
          content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}
  /items/find: {get: {operationId: find, responses: {"200": {description: ok}}}}
  /rare: {get: {operationId: rare, responses: {"200": {description: ok}}}}
  /items/drop: {get: {operationId: drop, responses: {"200": {description: ok}}}}
  /items:
    post:
      operationId: create
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [sku]
              properties: {sku: {type: string}, count: {type: integer, x-mcp-header: Count}}
      responses: {"201": {description: ok}}
  /chat:
    post:
      operationId: chat
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [model]}}}
      responses: {"200": {description: ok}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
"""
