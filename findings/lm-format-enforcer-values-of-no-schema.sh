#!/usr/bin/env bash
# lm-format-enforcer 0.11.3: three valid schemas lead a model to what is no JSON, or no value of the schema. None is refused
# when the parser is made.
#
# 1. `enum: [true]`: the model has to write `True`, as Python does, which is no JSON (RFC 8259, 3).
# 2. `enum: ['a"b']`: it has to write `"a"b"`, the quote without its backslash (RFC 8259, 7).
# 3. `oneOf` of types (JSON Schema 2020-12, Core, 10.2.1.3), `[{type: integer}, {type: string}]`: it has to write an
#    object. With `anyOf` it may write both types.
# llguidance 1.9.1 allows the right text for all of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet lm-format-enforcer==0.11.3 numpy==2.3.5 llguidance==1.9.1
"$folder/venv/bin/python" - <<'PYTHON'
import json
from string import whitespace

from llguidance import LLMatcher, LLTokenizer
from lmformatenforcer import JsonSchemaParser

TYPES = [{"type": "integer"}, {"type": "string"}]
tokenizer = LLTokenizer("byte")


def follow(schema: dict, text: str) -> str:
    """Where the parser stops to allow the text, and what it allows there in place of it."""
    parser = JsonSchemaParser(schema)
    for index, letter in enumerate(text):
        allowed = parser.get_allowed_characters()
        if letter not in allowed:
            return f"{text[:index]} then {''.join(sorted(set(allowed) - set(whitespace)))}"
        parser = parser.add_character(letter)
    return "whole" if parser.can_end() else "goes on"


def guide(schema: dict, text: str) -> str:
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema))
    matcher, tokens = LLMatcher(tokenizer, grammar), tokenizer.tokenize_str(text)
    return "whole" if matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting() else "stops"


CASES = [
    ({"enum": [True]}, True),
    ({"enum": ['a"b']}, 'a"b'),
    ({"oneOf": TYPES}, 1),
    ({"anyOf": TYPES}, 1),
    ({"const": "a"}, "a"),
]
seen, others = [], []
for schema, value in CASES:
    whole = {"type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": False}
    text = json.dumps({"x": value}, separators=(",", ":"))
    seen.append(follow(whole, text))
    others.append(guide(whole, text))
    print(json.dumps(schema), text, "lm-format-enforcer:", seen[-1], "llguidance:", others[-1])
assert seen == ['{"x": then T', '{"x":"a then "', '{"x": then {', "whole", "whole"]
assert others == ["whole"] * len(CASES)
PYTHON
