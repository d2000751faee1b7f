#!/usr/bin/env bash
# rfc6902 5.4.0, json8-patch 1.0.6 and fast-json-patch 3.1.1 (npm): valid patches are refused, or make a value that cannot
# be written as JSON, and a difference is none.
#
# A path of "" is the whole document (RFC 6901, 5), which `add`, `replace`, `move` and `copy` may have as their target
# (RFC 6902, 4 and 4.1: adding there replaces it); `copy` has the effect of adding the value of its source (4.5).
# - rfc6902 has a MissingError, "Value required at path", for each of them, and throws it itself when it is to make a
#   patch from [] to {}.
# - json8-patch copies no value but a reference: a change of the copy changes the original, and a copy into the
#   copied object is circular, so that JSON.stringify throws.
# - fast-json-patch says that nothing lies between [] and {}: its patch is empty.
# jsonpatch 1.48 (Python) applies and makes all of these.
#
# The state of an agent is sent as such patches (AG-UI's STATE_DELTA); after one of these the two sides differ.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund rfc6902@5.4.0 json8-patch@1.0.6 fast-json-patch@3.1.1
python3 -m venv venv
venv/bin/pip install --quiet jsonpatch==1.48
cat >patch.mjs <<'JAVASCRIPT'
import fast from "fast-json-patch";
import json8 from "json8-patch";
import * as rfc6902 from "rfc6902";
const [patches, differences] = JSON.parse(process.argv[2]);
const libraries = {
  rfc6902: (document, patch) => {
    const [error] = rfc6902.applyPatch(document, patch).filter(Boolean);
    if (error) throw error;
    return document;
  },
  "json8-patch": (document, patch) => json8.apply(document, patch).doc,
  "fast-json-patch": (document, patch) => fast.applyPatch(document, patch).newDocument,
};
const create = { rfc6902: rfc6902.createPatch, "json8-patch": json8.diff, "fast-json-patch": fast.compare };
const result = (run) => {
  try {
    return JSON.parse(JSON.stringify(run()));
  } catch (error) {
    return error.message.startsWith("Converting circular") ? "circular" : error.message;
  }
};
const seen = {};
for (const [name, apply] of Object.entries(libraries)) {
  seen[name] = [
    ...patches.map(([document, patch]) => result(() => apply(structuredClone(document), structuredClone(patch)))),
    ...differences.map(([from, to]) => result(() => apply(structuredClone(from), create[name](from, to)))),
  ];
}
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python - <<'PYTHON'
import json
import subprocess

import jsonpatch

PATCHES = [
    ({"a": 1}, [{"op": "replace", "path": "", "value": [1]}], [1]),
    ({"a": 1}, [{"op": "add", "path": "", "value": "x"}], "x"),
    ({"a": {"b": 1}}, [{"op": "move", "from": "/a", "path": ""}], {"b": 1}),
    ({"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": ""}], {"b": 1}),
    (
        {"a": {"b": 1}},
        [{"op": "copy", "from": "/a", "path": "/c"}, {"op": "replace", "path": "/c/b", "value": 2}],
        {"a": {"b": 1}, "c": {"b": 2}},
    ),
    ({"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": "/a/c"}], {"a": {"b": 1, "c": {"b": 1}}}),
    ({"a": [1, 2]}, [{"op": "add", "path": "/a/-", "value": 3}], {"a": [1, 2, 3]}),
]
DIFFERENCES = [([], {}), ({"a": 1}, {"a": []})]

names = ["replace all", "add all", "move to all", "copy to all", "copy, then change", "copy inside", "add"]
names += ["from [] to {}", "from 1 to []"]
output = subprocess.check_output(["node", "patch.mjs", json.dumps([PATCHES, DIFFERENCES])], text=True)
seen = json.loads(output)
seen["jsonpatch"] = [jsonpatch.apply_patch(document, patch) for document, patch, _ in PATCHES]
seen["jsonpatch"] += [jsonpatch.make_patch(old, new).apply(old) for old, new in DIFFERENCES]
right = [result for _, _, result in PATCHES] + [new for _, new in DIFFERENCES]
wrong = {}
for library, results in seen.items():
    triples = zip(names, results, right, strict=True)
    wrong[library] = {name: result for name, result, wanted in triples if result != wanted}
    print(f"{library}: {wrong[library]}")
missing = "Value required at path: "
assert wrong == {
    "rfc6902": dict.fromkeys([*names[:4], "from [] to {}"], missing),
    "json8-patch": {"copy, then change": {"a": {"b": 2}, "c": {"b": 2}}, "copy inside": "circular"},
    "fast-json-patch": {"from [] to {}": []},
    "jsonpatch": {},
}
PYTHON
