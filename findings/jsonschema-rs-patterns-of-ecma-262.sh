#!/usr/bin/env bash
# jsonschema-rs 0.60.3 (Python): valid patterns of ECMA-262 are refused, and two are matched otherwise.
#
# `pattern` SHOULD be a regular expression of ECMA-262 (JSON Schema 2020-12, Validation, 6.3.3; Core, 6.4), which Ajv
# 8.20.0 compiles with the flag `u`. jsonschema-rs rewrites most of its constructs for Rust, as the first one below.
# - The whole schema is refused, 'is not a "regex"': a reference to a named group, `[^]`, `\0`, `[\b]`.
# - `.` matches "\r" and U+2028, which are line terminators in ECMA-262, so that more is valid.
# - `\b` is the boundary of a word of Unicode, where `\w` is one of ASCII: `^\w+\b` does not match "caf" in "café".
#
# So a document works in the editor, and is refused, or judges otherwise, on the server.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary :all: jsonschema-rs==0.60.3
cd "$folder"
npm install --silent --no-audit --no-fund ajv@8.20.0
cat >ajv.cjs <<'JAVASCRIPT'
const Ajv = require("ajv/dist/2020");
const cases = JSON.parse(process.argv[2]);
console.log(JSON.stringify(cases.map(([pattern, text]) => new Ajv().compile({ type: "string", pattern })(text))));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import jsonschema_rs

CASES = [
    (r"^\d\cJ\w\p{Script=Greek}$", "1\naα"),
    (r"^(?<quote>['`])[a-z]+\k<quote>$", "'a'"),
    (r"^[^]$", "a"),
    (r"^\0$", "\0"),
    (r"^[\b]$", "\b"),
    (r"^.$", "\r"),
    (r"^.$", "\u2028"),
    (r"^\w+\b", "café"),
]


def verdict(pattern: str, text: str) -> object:
    try:
        return jsonschema_rs.Draft202012Validator({"type": "string", "pattern": pattern}).is_valid(text)
    except jsonschema_rs.ValidationError as error:
        return "refused" if 'is not a "regex"' in error.message else error.message


seen = [verdict(*case) for case in CASES]
ajv = json.loads(subprocess.run(["node", "ajv.cjs", json.dumps(CASES)], check=True, capture_output=True).stdout)
for (pattern, text), rust, node in zip(CASES, seen, ajv):
    print(f"{pattern} and {text!r}: jsonschema-rs {rust}, Ajv {node}")
assert ajv == [True] * 5 + [False, False, True]
assert seen == [True, *["refused"] * 4, True, True, False]
PYTHON
