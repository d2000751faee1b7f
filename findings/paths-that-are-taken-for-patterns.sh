#!/usr/bin/env bash
# express-openapi-validator 5.6.2, openapi-backend 5.21.2, fastify-openapi-glue 4.11.4 and @stoplight/prism-cli 5.14.2
# (npm), connexion 3.3.0 and openapi-core 0.23.1 (Python): a valid path of a document is never found, or its variable is.
#
# A path is made of the characters of a URI's segments, to which `:`, `(`, `'` and `+` belong, and of variables in braces,
# whose names have any character but braces (OpenAPI 3.1.1, 4.8.8.2, "Path Templating"; RFC 3986, 3.3). To these libraries
# some of them are the syntax of another pattern, into which they write the path without escaping it:
# 1. `/models/{model}:generate`, as in Google's APIs: fastify-openapi-glue has no variable `model`, and refuses.
# 2. `/usage(period='{period}')`, as in Microsoft Graph: express-openapi-validator answers 500, openapi-backend and
#    fastify-openapi-glue have no `period`, and refuse.
# 3. `/models/{model-id}`: express-openapi-validator and fastify-openapi-glue answer 404.
# 4. `/models/{model.id}`: so do they, Prism and connexion; openapi-backend has no variable, openapi-core raises KeyError.
# Nothing is said when a server starts. exegesis 4.3.0 and openapi-enforcer 1.23.0 (npm) read all of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet connexion==3.3.0 httpx==0.28.1 openapi-core==0.23.1
cd "$folder"
npm install --silent --no-audit --no-fund express@5.3.0 express-openapi-validator@5.6.2 openapi-backend@5.21.2 \
  fastify@5.12.8 fastify-openapi-glue@4.11.4 exegesis@4.3.0 exegesis-express@4.0.0 openapi-enforcer@1.23.0 \
  @stoplight/prism-cli@5.14.2
cat >servers.mjs <<'JAVASCRIPT'
import http from "node:http";
import { createRequire } from "node:module";
import exegesis from "exegesis-express";
import express from "express";
import { middleware } from "express-openapi-validator";
import Fastify from "fastify";
import glue from "fastify-openapi-glue";
import { OpenAPIBackend } from "openapi-backend";
const Enforcer = createRequire(import.meta.url)("openapi-enforcer");
const [text, url] = process.argv.slice(2);
const openapi = () => JSON.parse(text);
const refuse = (error, request, response, next) => response.status(error.status ?? 500).json(error.message);

async function get(handler) {
  const server = http.createServer(handler);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const answer = await new Promise((resolve) => http.get({ host: "127.0.0.1", port, path: url, agent: false }, resolve));
  answer.resume();
  server.close();
  return answer.statusCode;
}

const libraries = {
  validator: async () => {
    const app = express().use(middleware({ apiSpec: openapi() }));
    return get(app.use((request, response) => response.json({}), refuse));
  },
  backend: async () => {
    const ok = (context, request, response) => response.end("{}");
    const fail = (status) => (context, request, response) => response.writeHead(status).end("{}");
    const handlers = { read: ok, validationFail: fail(400), notFound: fail(404) };
    const api = await new OpenAPIBackend({ definition: openapi(), handlers }).init();
    const handle = (request, response) => {
      api.handleRequest({ method: request.method, path: request.url, headers: request.headers }, request, response);
    };
    return get(handle);
  },
  glue: async () => {
    const app = Fastify();
    const serviceHandlers = { read: async () => ({}) };
    await app.register(glue, { specification: openapi(), serviceHandlers });
    return (await app.inject({ method: "GET", url })).statusCode;
  },
  exegesis: async () => {
    const controllers = { models: { read: () => ({}) } };
    return get(express().use(await exegesis.middleware(openapi(), { controllers })));
  },
  enforcer: async () => ((await Enforcer(openapi())).request({ method: "get", path: url })[1] ? 400 : 200),
};
const seen = {};
for (const [name, ask] of Object.entries(libraries)) seen[name] = await ask();
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python -W ignore - 2>log <<'PYTHON'
import http.client
import json
import re
import socket
import subprocess
import time
from pathlib import Path

import connexion
from connexion.resolver import Resolver
from openapi_core import OpenAPI
from openapi_core.testing import MockRequest

CASES = {
    "/models/{model_id}": "/models/x",
    "/models/{model}:generate": "/models/x:generate",
    "/usage(period='{period}')": "/usage(period='D7')",
    "/models/{model-id}": "/models/x",
    "/models/{model.id}": "/models/x",
}


def operation(name: str, *parameters: str) -> dict:
    return {
        "operationId": name,
        "x-exegesis-controller": "models",
        "parameters": [{"name": each, "in": "path", "required": True, "schema": {"type": "string"}} for each in parameters],
        "responses": {"200": {"description": "OK", "content": {"application/json": {"example": {}}}}},
    }


def document(path: str) -> dict:
    paths = {path: {"get": operation("read", *re.findall("{(.*?)}", path))}}
    return {"openapi": "3.0.3", "info": {"title": "Models", "version": "1"}, "paths": paths}


def of_node(openapi: dict, url: str) -> dict[str, int]:
    command = ["node", "servers.mjs", json.dumps(openapi), url]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])


def of_prism(openapi: dict, url: str) -> int:
    Path("openapi.json").write_text(json.dumps(openapi))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    command = ["node_modules/.bin/prism", "mock", "openapi.json", "-p", str(port)]
    prism = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(120):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.5)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", url)
        return connection.getresponse().status
    finally:
        prism.terminate()
        prism.wait()


def of_connexion(openapi: dict, url: str) -> int:
    app = connexion.AsyncApp("models")
    app.add_api(openapi, resolver=Resolver(lambda _: lambda **parameters: parameters))
    return app.test_client().get(url).status_code


def of_openapi_core(openapi: dict, url: str) -> int | str:
    try:
        result = OpenAPI.from_dict(openapi).unmarshal_request(MockRequest("http://x", "get", url))
    except KeyError as error:
        return repr(error)
    return 400 if result.errors else 200


seen = {}
for path, url in CASES.items():
    openapi = document(path)
    others = {"prism": of_prism, "connexion": of_connexion, "openapi-core": of_openapi_core}
    codes = {**of_node(openapi, url), **{name: ask(openapi, url) for name, ask in others.items()}}
    seen[path] = {name: code for name, code in codes.items() if code != 200}
    print(path, "of", len(codes), "all but these read it:", seen[path])
assert seen == {
    "/models/{model_id}": {},
    "/models/{model}:generate": {"glue": 400},
    "/usage(period='{period}')": {"validator": 500, "backend": 400, "glue": 400},
    "/models/{model-id}": {"validator": 404, "glue": 404},
    "/models/{model.id}": {
        **{"validator": 404, "glue": 404, "prism": 404, "connexion": 404, "backend": 400},
        "openapi-core": "KeyError('model')",
    },
}
PYTHON
