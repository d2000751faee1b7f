#!/usr/bin/env bash
# outlines-core 0.2.14: a string with a `pattern` may be generated as text that is not JSON.
#
# `pattern` is a rule for the value of a string (JSON Schema 2020-12, Validation, 6.3.3). In JSON text a quote, a
# backslash and a line break of that value are escaped (RFC 8259, 7). outlines-core puts the pattern between two quotes as
# it is, into the regular expression that the model has to follow, so that it judges the text, not the value:
# - `^[^@]+@[^@]+$`, a usual pattern of mail addresses, and `^\S+$` allow a bare quote, a line break, a lone backslash;
# - `^C:\\\w+$` allows `"C:\a"`, which no JSON parser reads, and forbids `"C:\\a"`, which is the value;
# - `^a|b$` (begins with a, or ends with b) becomes `("a|b")`, the text of half a string: a quote and an a, or a b and a
#   quote. `"a"` and `"b"` are forbidden.
# llguidance 1.9.1 allows none of the texts that are not JSON.
#
# A caller that trusts the output to be JSON fails to parse it, for a schema of its own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet outlines-core==0.2.14 llguidance==1.9.1
"$folder/venv/bin/python" - <<'PYTHON'
import json
import re
from collections.abc import Callable

from llguidance import LLMatcher, LLTokenizer
from outlines_core.json_schema import build_regex_from_schema

tokenizer = LLTokenizer("byte")


def outlines(schema: dict) -> Callable[[str], bool]:
    expression = re.compile(build_regex_from_schema(json.dumps(schema)))
    return lambda text: expression.fullmatch(text) is not None


def llguidance(schema: dict) -> Callable[[str], bool]:
    grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema))

    def fits(text: str) -> bool:
        matcher, tokens = LLMatcher(tokenizer, grammar), tokenizer.tokenize_str(text)
        return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()

    return fits


def value(text: str) -> str | None:
    try:
        return json.loads(text)
    except ValueError:
        return None


TEXTS = {
    r"^[^@]+@[^@]+$": ['"a@b"', '"a"b@c"', '"a\nb@c"', r'"\@b"'],
    r"^\S+$": ['"a"', '"a"b"', '"\\"'],
    r"^C:\\\w+$": [r'"C:\a"', r'"C:\\a"'],
    r"^a|b$": ['"a"', '"b"', '"a', 'b"'],
}
wrong = {}
for maker in (outlines, llguidance):
    for pattern, texts in TEXTS.items():
        allowed = maker({"type": "string", "pattern": pattern})
        for text in texts:
            string = value(text)
            kind = "not JSON" if string is None else "valid" if re.search(pattern, string) else "invalid"
            if allowed(text) != (kind == "valid"):
                wrong[maker.__name__, pattern, text] = f"{'allows' if allowed(text) else 'forbids'} what is {kind}"
for key, what in wrong.items():
    print(*key, what)
assert wrong == {
    **{("outlines", r"^[^@]+@[^@]+$", text): "allows what is not JSON" for text in TEXTS[r"^[^@]+@[^@]+$"][1:]},
    **{("outlines", r"^\S+$", text): "allows what is not JSON" for text in TEXTS[r"^\S+$"][1:]},
    ("outlines", r"^C:\\\w+$", r'"C:\a"'): "allows what is not JSON",
    ("outlines", r"^C:\\\w+$", r'"C:\\a"'): "forbids what is valid",
    **{("outlines", r"^a|b$", text): "forbids what is valid" for text in TEXTS[r"^a|b$"][:2]},
    **{("outlines", r"^a|b$", text): "allows what is not JSON" for text in TEXTS[r"^a|b$"][2:]},
}, wrong
PYTHON
