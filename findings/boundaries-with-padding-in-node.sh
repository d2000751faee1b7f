#!/usr/bin/env bash
# busboy 1.6.0, and with it multer 2.5.0, @fastify/busboy 3.2.6, formidable 3.5.4, multiparty 4.3.1 and undici 7.30.2
# (npm): of a form with spaces behind a boundary no field is read.
#
# Between a boundary and its line break there may be spaces and tabs, padding which a sender does not write but a
# transport may add, and which a receiver must be able to handle (RFC 2046, 5.1.1; RFC 7578, 4.1, takes its syntax).
# Both busboys find no field and say nothing: of an Express server with multer `req.body` is empty, with status 200, and
# the model that the caller named is nowhere. The others raise. @remix-run/multipart-parser 0.16.3 reads the form.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund busboy@1.6.0 multer@2.5.0 express@5.3.0 @fastify/busboy@3.2.6 \
  formidable@3.5.4 multiparty@4.3.1 undici@7.30.2 @remix-run/multipart-parser@0.16.3
cat >forms.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { once } from "node:events";
import { Readable } from "node:stream";
import { parseMultipart } from "@remix-run/multipart-parser";
import fastifyBusboy from "@fastify/busboy";
import busboy from "busboy";
import express from "express";
import formidable from "formidable";
import multer from "multer";
import multiparty from "multiparty";
import { Response } from "undici";

const TYPE = "multipart/form-data; boundary=XX";
const form = (padding) => `--XX${padding}\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt\r\n--XX--\r\n`;
const app = express();
app.post("/", multer().none(), (request, response) => response.json({ ...request.body }));
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");

function request(body) {
  const headers = { "content-type": TYPE, "content-length": String(body.length) };
  return Object.assign(Readable.from([Buffer.from(body)]), { headers });
}
async function readStream(parser, body) {
  const fields = {};
  parser.on("field", (name, value) => (fields[name] = value));
  Readable.from([Buffer.from(body)]).pipe(parser);
  await once(parser, "finish");
  return fields;
}
const first = (fields) => Object.fromEntries(Object.entries(fields).map(([name, values]) => [name, values[0]]));
function readMultiparty(body) {
  return new Promise((resolve, reject) => {
    new multiparty.Form().parse(request(body), (error, fields) => (error ? reject(error) : resolve(first(fields))));
  });
}
async function post(body) {
  const options = { method: "POST", headers: { "content-type": TYPE }, body };
  const response = await fetch(`http://127.0.0.1:${server.address().port}/`, options);
  assert.equal(response.status, 200);
  return response.json();
}
const OPTIONS = { headers: { "content-type": TYPE } };
const READERS = {
  busboy: (body) => readStream(busboy(OPTIONS), body),
  "@fastify/busboy": (body) => readStream(new fastifyBusboy(OPTIONS), body),
  "express with multer": post,
  formidable: async (body) => first((await formidable({}).parse(request(body)))[0]),
  multiparty: readMultiparty,
  undici: async (body) => Object.fromEntries(await new Response(body, OPTIONS).formData()),
  "@remix-run/multipart-parser": async (body) =>
    Object.fromEntries([...parseMultipart(Buffer.from(body), { boundary: "XX" })].map((part) => [part.name, part.text])),
};
const WITH_PADDING = {
  busboy: {},
  "@fastify/busboy": {},
  "express with multer": {},
  formidable: "MultipartParser.end(): stream ended unexpectedly: state = START",
  multiparty: "Expected CR Received 32",
  undici: "Failed to parse body as FormData.",
};
for (const padding of ["", " \t"]) {
  for (const [name, read] of Object.entries(READERS)) {
    const fields = await read(form(padding)).catch((error) => error.message);
    console.log(JSON.stringify(padding), name, fields);
    const whole = { model: "gpt" };
    assert.deepStrictEqual(fields, padding ? (WITH_PADDING[name] ?? whole) : whole, name);
  }
}
process.exit(0);
JAVASCRIPT
node forms.mjs
