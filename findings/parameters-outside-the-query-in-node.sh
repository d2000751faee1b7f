#!/usr/bin/env bash
# exegesis 4.3.0, express-openapi-validator 5.6.2, openapi-backend 5.21.2 and fastify-openapi-glue 4.11.4 (npm): valid
# requests whose parameters are in headers, cookies and paths, or are an object, are refused with 400.
#
# How a value looks is said by `style`, whose default is `simple` for headers and paths, and `form` with `explode` for the
# query and cookies (OpenAPI 3.0.3, 4.7.12, "Style Values" and "Style Examples").
# 1. `X-Limit: 1`, an integer: exegesis, through exegesis-express 4.0.0, misses it. It looks for the name as the document
#    writes it, where Node.js has names in lower case. Names of fields are case-insensitive (RFC 9110, 5.1).
# 2. `Cookie: limit=1; theme=dark`: exegesis misses the cookie. (fastify-openapi-glue warns that it does not read them;
#    its README says that it adds nothing to what Fastify can do.)
# 3. `X-Limits: 1,2`, an array: express-openapi-validator says "Parameter 'style' has incorrect value 'undefined'", the
#    three others refuse it, too, exegesis for the name.
# 4. `/items/1,2`, an array in the path: openapi-backend and fastify-openapi-glue want an array, or integers.
# 5. `?low=1&high=2`, an object `range`: openapi-backend misses `range`.
# openapi-enforcer 1.23.0 reads all of them, and each of the others the integer in the query.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund express@5.3.0 express-openapi-validator@5.6.2 openapi-backend@5.21.2 \
  fastify@5.12.8 fastify-openapi-glue@4.11.4 exegesis@4.3.0 exegesis-express@4.0.0 openapi-enforcer@1.23.0
cat >servers.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import http from "node:http";
import { createRequire } from "node:module";
import exegesis from "exegesis-express";
import express from "express";
import { middleware } from "express-openapi-validator";
import Fastify from "fastify";
import glue from "fastify-openapi-glue";
import { OpenAPIBackend } from "openapi-backend";
const Enforcer = createRequire(import.meta.url)("openapi-enforcer");

const integer = { type: "integer" };
const integers = { type: "array", items: integer };
const range = { type: "object", properties: { low: integer, high: integer }, required: ["low"] };
const cases = [
  ["query", "limit", integer, "/items?limit=1", {}],
  ["header", "X-Limit", integer, "/items", { "X-Limit": "1" }],
  ["cookie", "limit", integer, "/items", { Cookie: "limit=1; theme=dark" }],
  ["header", "X-Limits", integers, "/items", { "X-Limits": "1,2" }],
  ["path", "ids", integers, "/items/1,2", {}],
  ["query", "range", range, "/items?low=1&high=2", {}],
];

function openapi(place, name, schema) {
  const get = {
    operationId: "list",
    "x-exegesis-controller": "items",
    parameters: [{ in: place, name, required: true, schema }],
    responses: { 200: { description: "OK" } },
  };
  const path = place === "path" ? `/items/{${name}}` : "/items";
  return { openapi: "3.0.3", info: { title: "Items", version: "1" }, paths: { [path]: { get } } };
}

async function status(handler, path, headers) {
  const server = http.createServer(handler);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const answer = await new Promise((resolve) => {
    http.get({ host: "127.0.0.1", port, path, headers, agent: false }, resolve);
  });
  answer.resume();
  server.close();
  return answer.statusCode;
}

const refuse = (error, request, response, next) => response.status(error.status ?? 500).json(error.message);
const libraries = {
  exegesis: async (document, url, headers) => {
    const controllers = { items: { list: () => ({}) } };
    return status(express().use(await exegesis.middleware(document, { controllers })), url, headers);
  },
  validator: (document, url, headers) => {
    const app = express().use(middleware({ apiSpec: document }), (request, response) => response.json({}), refuse);
    return status(app, url, headers);
  },
  backend: async (document, url, headers) => {
    const handlers = { list: () => 200, validationFail: () => 400, notFound: () => 404 };
    const api = await new OpenAPIBackend({ definition: document, coerceTypes: true, handlers }).init();
    const [path, query] = url.split("?");
    return api.handleRequest({ method: "GET", path, query, headers });
  },
  glue: async (document, url, headers) => {
    const app = Fastify();
    await app.register(glue, { specification: document, serviceHandlers: { list: async () => ({}) } });
    return (await app.inject({ method: "GET", url, headers })).statusCode;
  },
  enforcer: async (document, url, headers) => {
    const names = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    return (await Enforcer(document)).request({ method: "get", path: url, headers: names })[1] ? 400 : 200;
  },
};
const seen = {};
for (const [place, name, schema, url, headers] of cases) {
  const refused = {};
  for (const [library, ask] of Object.entries(libraries)) {
    const code = await ask(openapi(place, name, schema), url, headers);
    if (code !== 200) refused[library] = code;
  }
  seen[`${place} ${name}`] = refused;
  console.log(`${place} ${name}, ${url}`, JSON.stringify(headers), "is refused by", JSON.stringify(refused));
}
assert.deepEqual(seen, {
  "query limit": {},
  "header X-Limit": { exegesis: 400 },
  "cookie limit": { exegesis: 400 },
  "header X-Limits": { exegesis: 400, validator: 400, backend: 400, glue: 400 },
  "path ids": { backend: 400, glue: 400 },
  "query range": { backend: 400 },
});
JAVASCRIPT
node servers.mjs
