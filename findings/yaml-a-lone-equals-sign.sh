#!/usr/bin/env bash
# PyYAML 6.0.4 and ruamel.yaml 0.19.1: the plain scalar `=` is an error for their safe loaders, so that Python's tools
# refuse an OpenAPI document with an enum of operators, `enum: [<, =, ">"]`, which tools in JavaScript read.
#
# OpenAPI 3.1.1 recommends YAML 1.2 ("Format"), in whose core schema `=` is a string (YAML 1.2.2, 10.3.2). YAML 1.1 had
# a type "value" for it, to which both loaders resolve the scalar, without a constructor: "could not determine a
# constructor for the tag 'tag:yaml.org,2002:value'". ruamel.yaml, whose default is YAML 1.2, does so if `typ="safe"`.
#
# openapi-spec-validator 0.9.0, openapi-python-client 0.29.1 and datamodel-code-generator 0.89.0 refuse the document.
# Redocly CLI 2.77.0 calls it valid, openapi-typescript 7.13.0 writes the type `"<" | "=" | ">"`. All read `"="`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="PyYAML==6.0.4 ruamel.yaml==0.19.1 openapi-spec-validator==0.9.0 openapi-python-client==0.29.1"
"$folder/venv/bin/pip" install --quiet $packages datamodel-code-generator==0.89.0
cd "$folder"
npm install --silent --no-audit --no-fund @redocly/cli@2.77.0 openapi-typescript@7.13.0
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true PATH="$folder/venv/bin:$folder/node_modules/.bin:$PATH"
cat >plain.yaml <<'YAML'
openapi: 3.1.0
info: {title: T, version: "1"}
paths:
  /x:
    get:
      operationId: x
      parameters:
        - {name: operator, in: query, schema: {type: string, enum: [<, =, ">"]}}
      responses: {"200": {description: Done.}}
YAML
sed 's/, =,/, "=",/' plain.yaml >quoted.yaml
python - <<'PYTHON'
import subprocess

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError

COMMANDS = {
    "openapi-spec-validator": "openapi-spec-validator {}",
    "openapi-python-client": "openapi-python-client generate --path {} --output-path client --overwrite --meta none",
    "datamodel-codegen": "datamodel-codegen --input {} --openapi-scopes paths --output models.py",
    "redocly": "redocly lint {} --extends minimal",
    "openapi-typescript": "openapi-typescript {} --output types.ts",
}


def loads(name: str) -> list[bool]:
    """Whether each loader reads the file: PyYAML, then ruamel.yaml's `safe` and its default."""
    done = []
    for load in (yaml.safe_load, YAML(typ="safe", pure=True).load, YAML().load):
        with open(name) as file:
            try:
                load(file)
                done.append(True)
            except (yaml.constructor.ConstructorError, ConstructorError):
                done.append(False)
    return done


seen = {}
for name in ("quoted.yaml", "plain.yaml"):
    codes = [subprocess.run(each.format(name).split(), capture_output=True).returncode for each in COMMANDS.values()]
    seen[name] = loads(name), dict(zip(COMMANDS, (code == 0 for code in codes)))
    print("{}: loaded by PyYAML, ruamel.yaml safe and default {}; accepted by {}".format(name, *seen[name]))
loaded, accepted = seen["plain.yaml"]
assert all(seen["quoted.yaml"][0]) and all(seen["quoted.yaml"][1].values())
assert loaded == [False, False, True]
assert list(accepted.values()) == [False, False, False, True, True]
with open("types.ts") as file:
    assert '"<" | "=" | ">"' in file.read()
PYTHON
