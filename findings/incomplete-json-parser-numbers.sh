#!/usr/bin/env bash
# incomplete-json-parser 1.1.5 (npm): 1e-7 is read as 17, and `{}` is an error.
#
# The package reads JSON that a model has written in part, or all of it. A number may have an exponent (RFC 8259, 6), as
# JSON.stringify writes small and large ones (`1e-7`, `1e+21`), and an object may be empty (4). In an array the `e` and the
# sign are left out without an error: `[1e-7]` is [17], `[1.5e-3]` [1.53]. In an object an exponent raises "Expected comma,
# got e". `{}`, the arguments of a call of a tool without parameters, raises 'Expected ", got }', alone and inside.
# partial-json 0.1.7 and best-effort-json-parser 1.5.1 read all of them as JSON.parse does.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages="incomplete-json-parser@1.1.5 partial-json@0.1.7 best-effort-json-parser@1.5.1"
npm install --silent --no-audit --no-fund $packages
cat >read.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { parse as parseBest } from "best-effort-json-parser";
import { IncompleteJsonParser } from "incomplete-json-parser";
import { parse as parsePartial } from "partial-json";

const texts = {
  '{"a":[0.5,-1],"b":""}': '{"a":[0.5,-1],"b":""}',
  "[]": "[]",
  "[1e-7]": "[17]",
  "[1.5e-3]": "[1.53]",
  '{"price":1e-7}': "Expected comma, got e",
  "{}": 'Expected ", got }',
  '{"a":{},"b":1}': 'Expected ", got }',
};
for (const [text, expected] of Object.entries(texts)) {
  let seen;
  try {
    seen = JSON.stringify(IncompleteJsonParser.parse(text));
  } catch (error) {
    seen = error.message;
  }
  const others = [parsePartial(text), parseBest(text)];
  console.log(text, "incomplete-json-parser:", seen, "the others:", JSON.stringify(others));
  assert.equal(seen, expected);
  assert.deepStrictEqual(others, [JSON.parse(text), JSON.parse(text)]);
}
JAVASCRIPT
node read.mjs
