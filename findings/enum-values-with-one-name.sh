#!/usr/bin/env bash
# openapi-typescript 7.13.0: a valid enum of names of models becomes TypeScript that does not compile.
#
# The values of an `enum` should be unique, no more (JSON Schema 2020-12, Validation, 6.1.2). For
# `[deepseek-v3.1, deepseek-v3-1]`, `openapi-typescript --enum` writes an enum with the member `deepseek_v3_1` twice and
# ends with 0. TypeScript says "Duplicate identifier" (2300).
# swagger-typescript-api 13.13.0 and datamodel-code-generator 0.89.0 give each value a name of its own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet datamodel-code-generator==0.89.0
cd "$folder"
packages="openapi-typescript@7.13.0 swagger-typescript-api@13.13.0 typescript@5.9.3"
npm install --silent --no-audit --no-fund $packages
cat >check.cjs <<'JAVASCRIPT'
const ts = require("typescript");
const file = process.argv[2];
const program = ts.createProgram([file], { noEmit: true, skipLibCheck: true, lib: ["lib.esnext.d.ts", "lib.dom.d.ts"] });
const source = program.getSourceFile(file);
const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
console.log(JSON.stringify([...new Set(problems.map(({ code }) => code))].sort()));
JAVASCRIPT
PATH="$folder/venv/bin:$folder/node_modules/.bin:$PATH" venv/bin/python - <<'PYTHON'
import json
import re
import subprocess
from pathlib import Path

ENUMS = {"plain": ["one", "two"], "dots": ["deepseek-v3.1", "deepseek-v3-1"]}
DUPLICATE_IDENTIFIER = 2300


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(command, text=True, capture_output=True)


def typescript(file: str, *command: str) -> list[int]:
    assert run(*command).returncode == 0, command
    return json.loads(run("node", "check.cjs", file).stdout)


seen = {}
for name, values in ENUMS.items():
    body = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Kind"}}}}
    operation = {"operationId": "send", "requestBody": body, "responses": {"200": {"description": "Sent."}}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Enums", "version": "1"},
        "paths": {"/send": {"post": operation}},
        "components": {"schemas": {"Kind": {"enum": values}}},
    }
    Path("openapi.json").write_text(json.dumps(document))
    seen[name] = [
        typescript("openapi.ts", "openapi-typescript", "openapi.json", "--enum", "-o", "openapi.ts"),
        typescript("api/Api.ts", "swagger-typescript-api", "generate", "-p", "openapi.json", "-o", "api"),
    ]
    print(name, values, "openapi-typescript and swagger-typescript-api:", *seen[name])
    models = run("datamodel-codegen", "--input", "openapi.json", "--input-file-type", "openapi").stdout
    members = re.findall(r"^    (\w+) = ", models, re.MULTILINE)
    names = re.findall(r"^  (\w+) = ", re.search(r"enum Kind {(.*?)}", Path("api/Api.ts").read_text(), re.S)[1], re.M)
    print("  members of the two others:", names, members)
    assert len(set(members)) == len(set(names)) == len(values), (models, names)
assert seen == {"plain": [[], []], "dots": [[DUPLICATE_IDENTIFIER], []]}, seen
PYTHON
