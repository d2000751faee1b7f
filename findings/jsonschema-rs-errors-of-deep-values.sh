#!/usr/bin/env bash
# jsonschema-rs 0.60.3 (Python): `is_valid` judges a deeply nested value, `iter_errors` cannot say what is wrong
# with it: it raises ValueError "Recursion limit reached" where the value that an error shows is nested
# 254 deep or more.
#
# The value is valid JSON (RFC 8259 leaves the depth to implementations), and the schema looks at its first level
# only. A program that asks `is_valid` first and `iter_errors` for the message has to expect the exception.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary :all: jsonschema-rs==0.60.3
"$folder/venv/bin/python" - <<'PYTHON'
import jsonschema_rs

validator = jsonschema_rs.validator_for({"type": "array", "maxItems": 1})


def nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


def errors(value: list) -> str:
    try:
        return f"{len(list(validator.iter_errors(value)))} error"
    except ValueError as error:
        return f"ValueError: {error}"


seen = {}
for depth in (200, 254, 300):
    value = [nested(depth), 1]  # two items, where one is allowed
    seen[depth] = validator.is_valid(value), errors(value)
    print(f"{depth} deep: is_valid {seen[depth][0]}, iter_errors: {seen[depth][1]}")
assert seen[200] == (False, "1 error")
assert seen[254] == seen[300] == (False, "ValueError: Recursion limit reached")
PYTHON
