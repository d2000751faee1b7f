#!/usr/bin/env bash
# Elysia 1.4.30 (npm) and Microdot 2.7.0 (Python): of a text with a line break, the first line alone arrives as an event.
#
# Data of several lines is written as several fields `data`, which the reader joins with LF; a line ends with CR, LF or
# both (HTML Living Standard, 9.2.5 and 9.2.6). Elysia's `sse(text)` and `sse({data})`, and the `send` of Microdot's
# `with_sse`, write one field with the text as it is: what follows the break is a field that no reader knows, or, behind an
# empty line, an event without data. "One\ntwo" is "One", without an error. hono 4.13.19, h3 2.0.8 and
# sse-starlette 3.7.0 write each line as a field.
#
# Models write line breaks in nearly each answer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund elysia@1.4.30 hono@4.13.19 h3@2.0.8 eventsource-parser@4.1.3
python3 -m venv venv
venv/bin/pip install --quiet microdot==2.7.0 sse-starlette==3.7.0
cat >events.py <<'PYTHON'
import asyncio
import json
import sys

from microdot import Microdot
from microdot.sse import with_sse
from microdot.test_client import TestClient
from sse_starlette import ServerSentEvent

text = json.loads(sys.argv[1])
app = Microdot()


@app.route("/")
@with_sse
async def index(request, sse) -> None:
    await sse.send(text)


async def stream() -> str:
    response = await TestClient(app).get("/")
    return response.text or response.body.decode()


streams = {"Microdot": asyncio.run(stream()), "sse-starlette": ServerSentEvent(text).encode().decode()}
print(json.dumps(streams))
PYTHON
cat >events.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { Elysia, sse } from "elysia";
import { createParser } from "eventsource-parser";
import { H3, createEventStream } from "h3";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";

function h3(data) {
  return new H3().get("/", (event) => {
    const stream = createEventStream(event);
    stream.push({ data }).then(() => stream.close());
    return stream.send();
  });
}
const hono = (data) => new Hono().get("/", (context) => streamSSE(context, (stream) => stream.writeSSE({ data })));
const elysia = (event) =>
  new Elysia().get("/", function* () {
    yield sse(event);
  });
const request = () => new Request("http://localhost/");
const SERVERS = {
  "Elysia, text": (text) => elysia(text).handle(request()),
  "Elysia, data": (data) => elysia({ data }).handle(request()),
  Hono: (text) => hono(text).request("/"),
  h3: (text) => h3(text).request("/"),
};
function read(stream) {
  const texts = [];
  const parser = createParser({ onEvent: (event) => texts.push(event.data) });
  parser.feed(stream);
  return texts;
}
async function body(response) {
  let text = "";
  for await (const chunk of response.body) text += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
  return text;
}
for (const text of ["One", "One\ntwo", "One\n\ntwo", "One\r\ntwo"]) {
  const streams = JSON.parse(execFileSync("venv/bin/python", ["events.py", JSON.stringify(text)]));
  for (const [name, server] of Object.entries(SERVERS)) streams[name] = await body(await server(text));
  for (const [name, stream] of Object.entries(streams)) {
    const texts = read(stream);
    console.log(JSON.stringify(text), name, JSON.stringify(texts));
    const isCut = /^(Elysia|Microdot)/.test(name);
    assert.deepStrictEqual(texts, [isCut ? "One" : text.replaceAll("\r\n", "\n")], stream);
  }
}
JAVASCRIPT
node events.mjs
