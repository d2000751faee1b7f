#!/usr/bin/env bash
# python-mimeparse 2.0.0 and WebOb 1.8.11 (Python) and @hapi/accept 6.0.3 (npm): of six valid `Accept` headers some
# lead to no media type, to the wrong one, or to an exception.
#
# Names of types and of parameters have any case, as has the value of `charset`; a value is a token or the same in
# quotes, in which a comma may stand (RFC 9110, 8.3.1, 8.3.2, 5.6.4 and 5.6.6). Empty elements of a list are not
# written, but have to be read over (5.6.1.2). Each header has one right answer, which Werkzeug 3.1.9 and negotiator
# 1.1.0 (npm) find.
# - python-mimeparse finds nothing for `TEXT/EVENT-STREAM`, and raises for a comma in quotes.
# - WebOb finds nothing for `charset=UTF-8` where the server has `charset=utf-8`. A header that begins with an empty
#   element is none to it: the answer is the first type that the server has, which the caller did not ask for.
# - @hapi/accept finds nothing if the name of a parameter, or `UTF-8`, is written with capitals, or the value in
#   quotes.
# A caller of a model gets one JSON document, or 406, in place of the stream that it asked for.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet python-mimeparse==2.0.0 webob==1.8.11 werkzeug==3.1.9
cd "$folder"
npm install --silent --no-audit --no-fund @hapi/accept@6.0.3 negotiator@1.1.0
cat >choose.mjs <<'JAVASCRIPT'
import accept from "@hapi/accept";
import Negotiator from "negotiator";
const cases = JSON.parse(process.argv[2]);
const hapi = cases.map(([header, types]) => accept.mediaType(header, types) || null);
const negotiator = cases.map(([header, types]) => new Negotiator({ headers: { accept: header } }).mediaType(types));
console.log(JSON.stringify({ hapi, negotiator }));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess
from collections.abc import Callable

import mimeparse
from webob.acceptparse import create_accept_header
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

# The header, and the type that the server has beside text/html.
CASES = {
    "type in capitals": ("TEXT/EVENT-STREAM", "text/event-stream"),
    "comma in quotes": ('text/html;profile="a,b";q=0.1, text/event-stream', "text/event-stream"),
    "charset in capitals": ("application/json;charset=UTF-8", "application/json;charset=utf-8"),
    "name in capitals": ("application/json;Version=1", "application/json;version=1"),
    "value in quotes": ('application/json;version="1"', "application/json;version=1"),
    "empty element": (", text/event-stream", "text/event-stream"),
}


def webob(types: list[str], header: str) -> str | None:
    offers = create_accept_header(header).acceptable_offers(types)
    return offers[0][0] if offers else None


def werkzeug(types: list[str], header: str) -> str | None:
    return parse_accept_header(header, MIMEAccept).best_match(types)


def choice(choose: Callable[[list[str], str], str | None], header: str, type_: str) -> str | None:
    try:
        return choose(["text/html", type_], header) or None
    except mimeparse.MimeTypeParseException as error:
        return type(error).__name__


texts = json.dumps([(header, ["text/html", type_]) for header, type_ in CASES.values()])
seen = json.loads(subprocess.check_output(["node", "choose.mjs", texts], text=True))
for name, choose in (("mimeparse", mimeparse.best_match), ("webob", webob), ("werkzeug", werkzeug)):
    seen[name] = [choice(choose, *case) for case in CASES.values()]
wrong = {}
for name, types in seen.items():
    pairs = zip(CASES.items(), types, strict=True)
    wrong[name] = {case: chosen for (case, (_, right)), chosen in pairs if chosen != right}
    print(f"{name}: {wrong[name]}")
assert wrong == {
    "mimeparse": {"type in capitals": None, "comma in quotes": "MimeTypeParseException"},
    "webob": {"charset in capitals": None, "empty element": "text/html"},
    "hapi": dict.fromkeys(["charset in capitals", "name in capitals", "value in quotes"]),
    "werkzeug": {},
    "negotiator": {},
}
PYTHON
