#!/usr/bin/env bash
# uritemplate 4.2.0 and uri-template 1.3.0 (Python), url-template 3.1.1, uri-template 2.0.0 and uritemplate 0.3.4
# (npm): URI templates with a zero, an empty list, a member without a value, or an emoji become another URI.
#
# 1. `{?page}` with the number 0 is `?page=` for uritemplate of PyPI, `{;page}` is `;page`: the zero is lost. 1 is
#    `?page=1`, and `{page}` is `0`. google-api-python-client builds its addresses with this package.
# 2. A list without members is undefined, and so is a member without a value (RFC 6570, 2.3 and 3.2.1): `{?tags}` with
#    [] is nothing, but `?tags=` for url-template and uritemplate of npm. `{?filter*}` with a `None` or `null` beside
#    `b: 1` is `?b=1`, but `?a=None&b=1` for both packages of PyPI and `?a=null&b=1` for uri-template of npm.
# 3. A prefix counts characters of Unicode (2.4.1): `{name:1}` of an emoji and a letter is the emoji, %F0%9F%98%80.
#    url-template and uritemplate of npm raise URIError, uri-template writes %ED%A0%BD, which is no UTF-8.
# A server that filters by `?tags=` or `?a=None` finds nothing, and one that gets no page begins with another one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet uritemplate==4.2.0 uri-template==1.3.0
cd "$folder"
npm install --silent --no-audit --no-fund url-template@3.1.1 uri-template@2.0.0 uritemplate@0.3.4
cat >expand.mjs <<'JAVASCRIPT'
import { createRequire } from "node:module";
import { parseTemplate } from "url-template";
const require = createRequire(import.meta.url);
const libraries = {
  "url-template": (template) => parseTemplate(template),
  "uri-template of npm": require("uri-template").parse,
  "uritemplate of npm": require("uritemplate").parse,
};
const [, , cases] = process.argv;
const seen = {};
for (const [name, parse] of Object.entries(libraries)) {
  seen[name] = JSON.parse(cases).map(([template, values]) => {
    try {
      return parse(template).expand(values);
    } catch (error) {
      return error.name;
    }
  });
}
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import uri_template
import uritemplate

CASES = {
    ("{?page}", "?page=1"): {"page": 1},
    ("{page}", "0"): {"page": 0},
    ("{?page}", "?page=0"): {"page": 0},
    ("{;page}", ";page=0"): {"page": 0},
    ("{?tags}", ""): {"tags": []},
    ("{?filter*}", "?b=1"): {"filter": {"a": None, "b": "1"}},
    ("{name:1}", "%F0%9F%98%80"): {"name": "\U0001f600x"},
}
texts = json.dumps([(template, values) for (template, _), values in CASES.items()])
seen = json.loads(subprocess.check_output(["node", "expand.mjs", texts], text=True))
seen["uritemplate"] = [uritemplate.expand(template, values) for (template, _), values in CASES.items()]
seen["uri-template"] = [uri_template.expand(template, **values) for (template, _), values in CASES.items()]
differ = {}
for name, uris in seen.items():
    pairs = [(template, uri) for (template, right), uri in zip(CASES, uris, strict=True) if uri != right]
    differ[name] = pairs
    print(f"{name}: {pairs}")
assert differ == {
    "uritemplate": [("{?page}", "?page="), ("{;page}", ";page"), ("{?filter*}", "?a=None&b=1")],
    "uri-template": [("{?filter*}", "?a=None&b=1")],
    "url-template": [("{?tags}", "?tags="), ("{name:1}", "URIError")],
    "uri-template of npm": [("{?filter*}", "?a=null&b=1"), ("{name:1}", "%ED%A0%BD")],
    "uritemplate of npm": [("{?tags}", "?tags="), ("{name:1}", "URIError")],
}
PYTHON
