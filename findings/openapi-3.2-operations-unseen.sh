#!/usr/bin/env bash
# Spectral 6.16.3 and openapi-typescript 7.13.0: operations under `query` and `additionalOperations` of OpenAPI 3.2 do
# not exist for them, and they do not say so. Redocly CLI 2.77.0 sees both.
#
# OpenAPI 3.2.0, 4.9 (Path Item Object) adds the fixed field `query` and the map `additionalOperations`. Three valid
# documents with the same operation, without an operationId and a description, under `post`, `query` and the method COPY:
# - Spectral, `spectral:oas`, warns of the operation under `post`, has nothing to say of the others, and ends with 0. It
#   knows no 3.2 and applies its rules for 3.x without a word, so a clean result is none.
# - openapi-typescript writes types for `post`; of the others it writes a path without operations, and ends with 0.
# - Redocly, `recommended`, warns of the missing operationId in all three places.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @stoplight/spectral-cli@6.16.3 @redocly/cli@2.77.0 openapi-typescript@7.13.0
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
echo 'extends: ["spectral:oas"]' >.spectral.yaml
python3 - <<'PYTHON'
import json
import subprocess

OPERATION = {"summary": "Look at it.", "security": [], "responses": {"200": {"description": "Seen."}}}
INFO = {"title": "T", "version": "1", "description": "An API.", "contact": {"name": "A"}}
ITEMS = {
    "post": {"post": OPERATION},
    "query": {"query": OPERATION},
    "COPY": {"additionalOperations": {"COPY": OPERATION}},
}


def output(program: str, *words: str) -> str:
    result = subprocess.run([f"node_modules/.bin/{program}", *words], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


seen = {}
for name, item in ITEMS.items():
    document = {"openapi": "3.2.0", "info": INFO, "servers": [{"url": "https://api.test"}], "paths": {"/x": item}}
    with open("api.json", "w") as file:
        json.dump(document, file)
    spectral = json.loads(output("spectral", "lint", "api.json", "--format", "json", "--quiet"))
    redocly = output("redocly", "lint", "api.json", "--extends", "recommended", "--format", "json")
    problems = json.loads(redocly[redocly.index("{") :])["problems"]
    output("openapi-typescript", "api.json", "-o", "api.ts")
    with open("api.ts") as file:
        typed = "Look at it." in file.read()
    rule = "operation-operationId"
    seen[name] = rule in [each["code"] for each in spectral], rule in [each["ruleId"] for each in problems], typed
    print("{}: warned of by Spectral {}, by Redocly {}; typed by openapi-typescript {}".format(name, *seen[name]))
assert seen == {"post": (True, True, True), "query": (False, True, False), "COPY": (False, True, False)}
PYTHON
