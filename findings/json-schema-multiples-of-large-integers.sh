#!/usr/bin/env bash
# jsonschema 4.26.0 and fastjsonschema 2.22.3: an integer of 309 digits and more, against `multipleOf: 0.5`, is neither
# valid nor invalid: OverflowError, which no `except ValidationError` catches.
#
# JSON sets no bound to the digits of a number (RFC 8259, 6), Python's json reads an integer as it is written, and each
# integer is a multiple of 0.5 (JSON Schema 2020-12, Validation, 6.2.1). Both divide as floats. They read an integer of
# 308 digits, and all with `multipleOf: 1`; jsonschema-rs 0.60.3 says valid in each case. So a server that makes a 400
# of a ValidationError answers 500 to a few hundred digits.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet jsonschema==4.26.0 fastjsonschema==2.22.3 jsonschema-rs==0.60.3
"$folder/venv/bin/python" - <<'PYTHON'
import json

import fastjsonschema
import jsonschema
import jsonschema_rs


def verdicts(text: str, multiple: float) -> list[str]:
    value, schema = json.loads(text), {"multipleOf": multiple}
    checks = {
        "jsonschema": lambda: jsonschema.validate(value, schema),
        "fastjsonschema": lambda: fastjsonschema.compile(schema)(value),
        "jsonschema-rs": lambda: jsonschema_rs.validate(schema, value),
    }
    found = []
    for check in checks.values():
        try:
            check()
            found.append("valid")
        except (OverflowError, jsonschema.ValidationError, jsonschema_rs.ValidationError) as error:
            found.append(type(error).__name__)
    return found


seen = {}
for name, text, multiple in (
    ("308 digits", "1" + "0" * 307, 0.5),
    ("310 digits", "1" + "0" * 309, 0.5),
    ("310 digits, multipleOf 1", "1" + "0" * 309, 1),
):
    seen[name] = verdicts(text, multiple)
    print(f"{name}: jsonschema, fastjsonschema, jsonschema-rs: {seen[name]}")
assert seen["308 digits"] == seen["310 digits, multipleOf 1"] == ["valid"] * 3
assert seen["310 digits"] == ["OverflowError", "OverflowError", "valid"]
PYTHON
