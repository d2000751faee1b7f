#!/usr/bin/env bash
# openapi-backend 5.21.2 and fastify-openapi-glue 4.11.4 (npm) and connexion 3.3.0 (Python): a request without a property
# that is read-only and required is refused, and one with it is taken.
#
# A property with `readOnly: true` should not be sent in a request, and if it is in `required`, that holds for responses
# only (OpenAPI 3.0.3, 4.7.24.2, Schema Object, "Fixed Fields"). Documents describe a resource once, with an `id` that the
# server makes, for both directions. These servers ask the caller for the `id`: 400, "must have required property 'id'".
# express-openapi-validator 5.6.2 and Prism 5.14.2 (npm) and openapi-core 0.23.1 (Python) take the request.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet connexion==3.3.0 httpx==0.28.1 openapi-core==0.23.1
cd "$folder"
npm install --silent --no-audit --no-fund express@5.3.0 express-openapi-validator@5.6.2 openapi-backend@5.21.2 \
  fastify@5.12.8 fastify-openapi-glue@4.11.4 @stoplight/prism-cli@5.14.2
cat >openapi.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": {"title": "Assistants", "version": "1"},
  "paths": {
    "/assistants": {
      "post": {
        "operationId": "create",
        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Assistant"}}}},
        "responses": {"200": {"description": "OK", "content": {"application/json": {"example": {}}}}}
      }
    }
  },
  "components": {
    "schemas": {
      "Assistant": {
        "type": "object",
        "required": ["id", "name"],
        "properties": {"id": {"type": "string", "readOnly": true}, "name": {"type": "string"}}
      }
    }
  }
}
JSON
cat >servers.mjs <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import http from "node:http";
import express from "express";
import { middleware } from "express-openapi-validator";
import Fastify from "fastify";
import glue from "fastify-openapi-glue";
import { OpenAPIBackend } from "openapi-backend";
const openapi = () => JSON.parse(readFileSync("openapi.json"));
const refuse = (error, request, response, next) => response.status(error.status ?? 500).json(error.message);
const headers = { "Content-Type": "application/json" };

const libraries = {
  validator: async (body) => {
    const app = express().use(express.json(), middleware({ apiSpec: openapi() }));
    const server = http.createServer(app.use((request, response) => response.json({}), refuse));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${server.address().port}/assistants`;
    const { status } = await fetch(url, { method: "POST", headers: { ...headers, Connection: "close" }, body });
    server.close();
    return status;
  },
  backend: async (body) => {
    const handlers = { create: () => 200, validationFail: () => 400 };
    const api = await new OpenAPIBackend({ definition: openapi(), handlers }).init();
    return api.handleRequest({ method: "POST", path: "/assistants", headers, body: JSON.parse(body) });
  },
  glue: async (body) => {
    const app = Fastify();
    await app.register(glue, { specification: openapi(), serviceHandlers: { create: async () => ({}) } });
    return (await app.inject({ method: "POST", url: "/assistants", headers, body })).statusCode;
  },
};
const seen = {};
for (const [name, ask] of Object.entries(libraries)) seen[name] = await ask(process.argv[2]);
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python -W ignore - 2>log <<'PYTHON'
import http.client
import json
import socket
import subprocess
import time

import connexion
from connexion.resolver import Resolver
from openapi_core import OpenAPI
from openapi_core.testing import MockRequest

HEADERS = {"Content-Type": "application/json"}
with open("openapi.json") as file:
    DOCUMENT = json.load(file)


def of_prism(port: int, body: str) -> int:
    for _ in range(120):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.5)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/assistants", body, HEADERS)
    return connection.getresponse().status


def of_connexion(body: str) -> int:
    app = connexion.AsyncApp("assistants")
    app.add_api(DOCUMENT, resolver=Resolver(lambda _: lambda body: body))
    return app.test_client().post("/assistants", content=body, headers=HEADERS).status_code


def of_openapi_core(body: str) -> int:
    request = MockRequest("http://x", "post", "/assistants", data=body.encode(), content_type="application/json")
    return 400 if OpenAPI.from_dict(DOCUMENT).unmarshal_request(request).errors else 200


with socket.create_server(("127.0.0.1", 0)) as server:
    port = server.getsockname()[1]
command = ["node_modules/.bin/prism", "mock", "openapi.json", "-p", str(port)]
prism = subprocess.Popen(command, stdout=subprocess.DEVNULL)
seen = {}
try:
    for name, value in {"without": {"name": "a"}, "with": {"name": "a", "id": "b"}, "no name": {"id": "b"}}.items():
        body = json.dumps(value)
        output = subprocess.run(["node", "servers.mjs", body], check=True, stdout=subprocess.PIPE).stdout
        others = {"prism": of_prism(port, body), "connexion": of_connexion(body), "openapi-core": of_openapi_core(body)}
        seen[name] = {**json.loads(output.splitlines()[-1]), **others}
        print(name, value, seen[name])
finally:
    prism.terminate()
    prism.wait()
asked = ["backend", "glue", "connexion"]
assert {name for name, status in seen["without"].items() if status == 400} == set(asked), seen
assert all(seen["without"][name] == 200 for name in ("validator", "prism", "openapi-core")), seen
assert all(seen["with"][name] == 200 for name in asked), seen
assert all(status in (400, 422) for status in seen["no name"].values()), seen
PYTHON
