#!/usr/bin/env bash
# requests 2.34.2 and httpx 0.28.1 (Python), parse-link-header 2.0.0, li 1.3.0 and http-link-header 1.1.4 (npm): of
# valid `Link` headers the link to the next page is not found, or is another one.
#
# A link is a URI in angle brackets, with parameters whose names have any case, whose values are tokens or quoted
# strings with escapes, and which may have no value; a `rel` may name several relations (RFC 8288, 3 and 3.3).
# Whitespace around `=` and empty elements of the list are not written, but a recipient has to read over them (RFC
# 9110, 5.6.1.2 and 5.6.3). All read the plain form, `<https://a/2>; rel="next"`. Of the nine other ones below
# - requests and httpx lose six: they split at each semicolon, also inside of a URI or a title, stop at a parameter
#   without a value, and take `next last` for the name of one relation;
# - parse-link-header and li know `rel` in lower case only, and no whitespace; li stops at an escaped quote;
# - http-link-header throws at an empty element, and joins a parameter without a value with the one behind it.
# A program that follows `next` until there is none stops after the first page, as if it had seen all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet requests==2.34.2 httpx==0.28.1
cd "$folder"
npm install --silent --no-audit --no-fund parse-link-header@2.0.0 li@1.3.0 http-link-header@1.1.4
cat >links.mjs <<'JAVASCRIPT'
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const libraries = {
  "parse-link-header": (header) => require("parse-link-header")(header).next.url,
  li: (header) => require("li").parse(header).next,
  "http-link-header": (header) => require("http-link-header").parse(header).rel("next")[0].uri,
};
const [, , headers] = process.argv;
const seen = {};
for (const [name, next] of Object.entries(libraries)) {
  seen[name] = JSON.parse(headers).map((header) => {
    try {
      return next(header) ?? null;
    } catch {
      return null;
    }
  });
}
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import httpx
import requests

HEADERS = {
    "plain": '<https://a/2>; rel="next"',
    "token": "<https://a/2>;rel=next",
    "two relations": '<https://a/2>; rel="next last"',
    "capitals": '<https://a/2>; REL="next"',
    "whitespace": '<https://a/2> ; rel = "next"',
    "no value": '<https://a/2>; crossorigin; rel="next"',
    "semicolon in a title": '<https://a/2>; title="a; b"; rel="next"',
    "quote in a title": r'<https://a/2>; title="a \"b\""; rel="next"',
    "empty element": '<https://a/2>; rel="next", , <https://a/1>; rel="prev"',
    "semicolon in the URI": '<https://a/2;b>; rel="next"',
}


def requests_(header: str) -> str | None:
    response = requests.Response()
    response.headers["Link"] = header
    return response.links.get("next", {}).get("url")


def httpx_(header: str) -> str | None:
    return httpx.Response(200, headers={"Link": header}).links.get("next", {}).get("url")


headers = json.dumps(list(HEADERS.values()))
seen = json.loads(subprocess.check_output(["node", "links.mjs", headers], text=True))
for read in (requests_, httpx_):
    seen[read.__name__.rstrip("_")] = [read(header) for header in HEADERS.values()]
lost = {}
for name, uris in seen.items():
    right = ["https://a/2;b" if each == "semicolon in the URI" else "https://a/2" for each in HEADERS]
    lost[name] = [each for each, uri, wanted in zip(HEADERS, uris, right, strict=True) if uri != wanted]
    print(f"{name}: {lost[name]}")
split = ["two relations", "capitals", "no value", "semicolon in a title", "empty element", "semicolon in the URI"]
assert lost == {
    "requests": split,
    "httpx": split,
    "parse-link-header": ["capitals", "whitespace"],
    "li": ["capitals", "whitespace", "no value", "quote in a title"],
    "http-link-header": ["no value", "empty element"],
}
PYTHON
