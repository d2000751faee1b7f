#!/usr/bin/env bash
# json-canonicalize 3.0.1 (npm): an object with a member named `toJSON` stays as it is, with all that is in it: no member
# of it is sorted.
#
# In canonical JSON the members of every object are sorted by their names, those of objects inside too (RFC 8785, 3.2.3),
# and `toJSON` is a name like any other. json-canonicalize takes the value for an object of JavaScript with a function of
# that name, as `Date` has, and gives it to `JSON.stringify`, although JSON has no functions. So one document with its
# members in two orders has two texts, hence two hashes, and a signature that another implementation made of the canonical
# text is not found to be good. canonicalize 4.0.0 (npm) and rfc8785 0.1.4 (Python) sort them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts json-canonicalize@3.0.1 canonicalize@4.0.0
python3 -m venv venv
venv/bin/pip install --quiet rfc8785==0.1.4
cat >canonical.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { execFileSync } from "node:child_process";
import canonicalize from "canonicalize";
import { canonicalize as jsonCanonicalize } from "json-canonicalize";

const PYTHON = "import json, rfc8785, sys; sys.stdout.buffer.write(rfc8785.dumps(json.loads(sys.argv[1])))";
const IMPLEMENTATIONS = {
  "json-canonicalize": (text) => jsonCanonicalize(JSON.parse(text)),
  canonicalize: (text) => canonicalize(JSON.parse(text)),
  rfc8785: (text) => execFileSync("venv/bin/python", ["-c", PYTHON, text], { encoding: "utf8" }),
};
const CANONICAL = '{"methods":{"equals":{"a":1,"b":2},"toJSON":"text"},"name":"Date"}';
const TEXTS = [
  CANONICAL,
  '{"name":"Date","methods":{"toJSON":"text","equals":{"b":2,"a":1}}}',
  '{"name":"Date","methods":{"toString":"text","equals":{"b":2,"a":1}}}',
];

const seen = {};
for (const [name, canonical] of Object.entries(IMPLEMENTATIONS)) seen[name] = TEXTS.map(canonical);
console.log(seen);
const sorted = [CANONICAL, CANONICAL, CANONICAL.replace("toJSON", "toString")];
assert.deepEqual(seen.canonicalize, sorted);
assert.deepEqual(seen.rfc8785, sorted);
const unsorted = '{"methods":{"toJSON":"text","equals":{"b":2,"a":1}},"name":"Date"}';
assert.deepEqual(seen["json-canonicalize"], [CANONICAL, unsorted, sorted[2]]);
JAVASCRIPT
node canonical.mjs
