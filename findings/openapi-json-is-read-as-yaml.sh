#!/usr/bin/env bash
# openapi-spec-validator 0.9.0: a valid OpenAPI document in JSON is refused, because it is read as YAML.
#
# A document may be in JSON (OpenAPI 3.1.1, 4.2, "Format"). Python's `json.dumps` writes a character above U+FFFF, as
# mathematical letters are, as a pair of escapes (RFC 8259, 7); a string may hold U+007F as it is, and the name of a member
# may have any length. The command reads a file of JSON with libyaml, for which half a pair is no character, U+007F is
# not printable, and a key in one line has 1024 characters at most. It names a place in "<urllib response>" and says
# "found invalid Unicode character escape code", "control characters are not allowed", "did not find expected ','".
# prance 26.7.19.0 and datamodel-code-generator 0.89.0 read the same files as JSON.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="openapi-spec-validator==0.9.0 datamodel-code-generator==0.89.0"
"$folder/venv/bin/pip" install --quiet $packages prance==26.7.19.0
cd "$folder"
PATH="$folder/venv/bin:$PATH" venv/bin/python -W ignore - <<'PYTHON'
import json
import subprocess
from pathlib import Path

from prance import BaseParser

TITLES = {"plain": ("x", "a"), "pair": ("\U0001d465", "a"), "U+007F": ("\x7f", "a"), "long name": ("x", "a" * 1100)}
OUTCOMES = {
    "plain": "OK",
    "pair": "found invalid Unicode character escape code",
    "U+007F": "control characters are not allowed",
    "long name": "did not find expected ',' or '}'",
}
for name, (title, key) in TITLES.items():
    document = {
        "openapi": "3.1.1",
        "info": {"title": title, "version": "1"},
        "paths": {},
        "components": {"schemas": {"Thing": {"type": "object", "properties": {key: {"type": "string"}}}}},
    }
    file = f"{name}.json"
    Path(file).write_text(json.dumps(document).replace("\\u007f", "\x7f"))
    command = ["openapi-spec-validator", file]
    validator = subprocess.run(command, text=True, capture_output=True)
    lines = (validator.stdout + validator.stderr).strip().splitlines()
    command = ["datamodel-codegen", "--input", file, "--input-file-type", "openapi"]
    models = subprocess.run(command, text=True, capture_output=True)
    parser = BaseParser(file, lazy=True, backend="openapi-spec-validator")
    parser.parse()
    print(name, validator.returncode, lines[-2:], "datamodel-codegen:", models.returncode)
    assert (validator.returncode == 0) == (name == "plain") and any(OUTCOMES[name] in line for line in lines), lines
    assert models.returncode == 0 and "class Thing(BaseModel)" in models.stdout, models.stderr
    assert parser.specification["info"]["title"] == title, (name, parser.specification["info"])
PYTHON
