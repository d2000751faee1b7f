#!/usr/bin/env bash
# jsonschema-rs 0.60.3 (Python): whether a schema with the pattern `(?i)^abc$` can be compiled depends on where it
# stands. Drafts 4, 6 and 7 refuse it in the schema itself ('is not a "regex"'), and take the same schema behind a `$ref`
# into a Registry, where it works. Drafts 2019-09 and 2020-12 take it in both places.
#
# In all of them `pattern` SHOULD be a regular expression of ECMA-262, which has no such flag at the beginning, so
# either answer alone is understandable. But a document does not become invalid when it is written in one file
# instead of two, and a program that tests schemas one by one accepts what it refuses when they are joined.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary :all: jsonschema-rs==0.60.3
"$folder/venv/bin/python" - <<'PYTHON'
import jsonschema_rs

DRAFTS = ("Draft4", "Draft6", "Draft7", "Draft201909", "Draft202012")
SCHEMA, PLACE = {"pattern": "(?i)^abc$"}, "https://example.com/schema"


def verdict(draft: str, schema: dict, **options: object) -> str:
    try:
        valid = getattr(jsonschema_rs, f"{draft}Validator")(schema, **options).is_valid("ABC")
    except jsonschema_rs.ValidationError as error:
        return "refused: " + error.message
    return "valid" if valid else "invalid"


seen = {}
for draft in DRAFTS:
    registry = jsonschema_rs.Registry([(PLACE, SCHEMA)], draft=getattr(jsonschema_rs, draft))
    seen[draft] = verdict(draft, SCHEMA), verdict(draft, {"$ref": PLACE}, registry=registry)
    print(f"{draft}: at the root {seen[draft][0]}, behind a $ref {seen[draft][1]}")
REFUSED = 'refused: "(?i)^abc$" is not a "regex"'
assert [seen[draft] for draft in DRAFTS[:3]] == [(REFUSED, "valid")] * 3
assert [seen[draft] for draft in DRAFTS[3:]] == [("valid", "valid")] * 2
PYTHON
