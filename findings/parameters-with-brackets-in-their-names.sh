#!/usr/bin/env bash
# express-openapi-validator 5.6.2, openapi-backend 5.21.2, exegesis 4.3.0 and @stoplight/prism-cli 5.14.2 (npm): a valid
# request with the query parameter `include[]` is refused.
#
# The `name` of a parameter in the query is any text, and its style says how the values look (OpenAPI 3.0.3, 4.7.12,
# Parameter Object): an array in the default style is `include[]=a&include[]=b`, with or without percent-encoding of the
# brackets. OpenAI's API has such names, `include[]` of the steps of a run, `project_ids[]` of the audit logs.
# - express-openapi-validator and openapi-backend read the query with `qs`, to which the brackets are syntax: there is an
#   unknown parameter `include`, or none. No request fits.
# - exegesis reads the name without decoding it, so that what each browser and `URLSearchParams` send is refused.
# - Prism encodes the name of the document and decodes that of the request, or neither: no request fits.
# openapi-enforcer 1.23.0 (npm), connexion 3.3.0 and openapi-core 0.23.1 (Python) read both; all read `include`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet connexion==3.3.0 httpx==0.28.1 openapi-core==0.23.1
cd "$folder"
npm install --silent --no-audit --no-fund express@5.3.0 express-openapi-validator@5.6.2 openapi-backend@5.21.2 \
  exegesis@4.3.0 exegesis-express@4.0.0 openapi-enforcer@1.23.0 @stoplight/prism-cli@5.14.2
cat >openapi.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": {"title": "Runs", "version": "1"},
  "paths": {
    "/steps": {
      "get": {
        "operationId": "steps",
        "x-exegesis-controller": "runs",
        "parameters": [
          {"name": "include[]", "in": "query", "required": true, "schema": {"type": "array", "items": {"type": "string"}}}
        ],
        "responses": {"200": {"description": "OK", "content": {"application/json": {"example": {}}}}}
      }
    },
    "/plain": {
      "get": {
        "operationId": "plain",
        "x-exegesis-controller": "runs",
        "parameters": [
          {"name": "include", "in": "query", "required": true, "schema": {"type": "array", "items": {"type": "string"}}}
        ],
        "responses": {"200": {"description": "OK", "content": {"application/json": {"example": {}}}}}
      }
    }
  }
}
JSON
cat >servers.mjs <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import exegesis from "exegesis-express";
import express from "express";
import { middleware } from "express-openapi-validator";
import { OpenAPIBackend } from "openapi-backend";
const Enforcer = createRequire(import.meta.url)("openapi-enforcer");
const openapi = () => JSON.parse(readFileSync("openapi.json"));
const refuse = (error, request, response, next) => response.status(error.status ?? 500).json(error.message);

async function validator() {
  const app = express();
  app.use(middleware({ apiSpec: openapi() }), (request, response) => response.json({}), refuse);
  return app;
}

async function backend() {
  const handlers = {
    steps: (context, request, response) => response.end("{}"),
    plain: (context, request, response) => response.end("{}"),
    validationFail: (context, request, response) => response.writeHead(400).end("{}"),
  };
  const api = await new OpenAPIBackend({ definition: openapi(), handlers }).init();
  return (request, response) => {
    const { method, url, headers } = request;
    const { pathname, search } = new URL(url, "http://localhost");
    api.handleRequest({ method, path: pathname, query: search, headers }, request, response);
  };
}

async function exegesisExpress() {
  const runs = { steps: () => ({}), plain: () => ({}) };
  return express().use(await exegesis.middleware(openapi(), { controllers: { runs } }));
}

async function enforcer() {
  const api = await Enforcer(openapi());
  return (request, response) => {
    const [, error] = api.request({ method: request.method.toLowerCase(), path: request.url });
    response.writeHead(error ? 400 : 200).end("{}");
  };
}

const ports = {};
for (const [name, make] of Object.entries({ validator, backend, exegesis: exegesisExpress, enforcer })) {
  const server = http.createServer(await make());
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  ports[name] = server.address().port;
}
console.log(JSON.stringify(ports));
JAVASCRIPT
venv/bin/python -W ignore - 2>log <<'PYTHON'
import http.client
import json
import socket
import subprocess
import time
from urllib.parse import parse_qsl, urlsplit

import connexion
from connexion.resolver import Resolver
from openapi_core import OpenAPI
from openapi_core.testing import MockRequest
from werkzeug.datastructures import ImmutableMultiDict

URLS = ["/plain?include=a&include=b", "/steps?include[]=a&include[]=b", "/steps?include%5B%5D=a&include%5B%5D=b"]
with open("openapi.json") as file:
    DOCUMENT = json.load(file)


def status(port: int, url: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", url)
    return connection.getresponse().status


def of_connexion(url: str) -> int:
    app = connexion.AsyncApp("runs")
    app.add_api(DOCUMENT, resolver=Resolver(lambda _: lambda **parameters: parameters))
    return app.test_client().get(url).status_code


def of_openapi_core(url: str) -> int:
    query = ImmutableMultiDict(parse_qsl(urlsplit(url).query))
    request = MockRequest("http://x", "get", urlsplit(url).path, args=query)
    return 400 if OpenAPI.from_dict(DOCUMENT).unmarshal_request(request).errors else 200


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def wait_for(port: int) -> None:
    for _ in range(120):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.5)
    raise TimeoutError(port)


port = free_port()
prism = subprocess.Popen(["node_modules/.bin/prism", "mock", "openapi.json", "-p", str(port)], stdout=subprocess.DEVNULL)
servers = subprocess.Popen(["node", "servers.mjs"], stdout=subprocess.PIPE)
try:
    ports = {**json.loads(servers.stdout.readline()), "prism": port}
    wait_for(port)
    seen = {name: [status(number, url) for url in URLS] for name, number in ports.items()}
finally:
    for process in (servers, prism):
        process.terminate()
        process.wait()
seen["connexion"] = [of_connexion(url) for url in URLS]
seen["openapi-core"] = [of_openapi_core(url) for url in URLS]
print("status of", *URLS)
for name, codes in seen.items():
    print(f"{name}: {codes}")
assert seen == {
    "validator": [200, 400, 400],
    "backend": [200, 400, 400],
    "exegesis": [200, 200, 400],
    "enforcer": [200, 200, 200],
    "prism": [200, 422, 422],
    "connexion": [200, 200, 200],
    "openapi-core": [200, 200, 200],
}
PYTHON
