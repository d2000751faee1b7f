#!/usr/bin/env bash
# swagger-typescript-api 13.13.0 and openapi-typescript 7.13.0 (npm): TypeScript that was made of an OpenAPI 3.1 document
# refuses valid values of an array that begins with `prefixItems`, and the first one null in an `enum`.
#
# The schemas of OpenAPI 3.1 are JSON Schema 2020-12: `enum` has values of any type (Validation, 6.1.2), and `items` is for
# what follows `prefixItems` (Core, 10.3.1.2).
# - swagger-typescript-api: an enum has no null, and a string that numbers may follow is `[string]`.
# - openapi-typescript: nothing may follow the string either.
# TypeScript 5.9.3 judges the types, and takes them if orval 8.38.0 has made them. All end with 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund orval@8.38.0 swagger-typescript-api@13.13.0 openapi-typescript@7.13.0 \
  typescript@5.9.3
cat >openapi.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": {"title": "Models", "version": "1"},
  "paths": {
    "/chat": {
      "post": {
        "operationId": "chat",
        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Chat"}}}},
        "responses": {"204": {"description": "Done."}}
      }
    }
  },
  "components": {
    "schemas": {
      "Chat": {
        "type": "object",
        "properties": {
          "one": {"const": 1},
          "object": {"const": {"a": 1}},
          "null": {"enum": ["low", "high", null]},
          "tuple": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}},
          "plain": {"enum": ["low", "high"]}
        }
      }
    }
  }
}
JSON
npx orval --input ./openapi.json --output ./orval.ts >/dev/null
npx swagger-typescript-api generate -p openapi.json -o . -n swagger.ts --no-client >/dev/null
npx openapi-typescript openapi.json -o typescript.d.ts >/dev/null 2>&1
echo 'export type { Chat } from "./orval";' >orval-chat.ts
echo 'export type { Chat } from "./swagger";' >swagger-chat.ts
echo 'import type { components } from "./typescript"; export type Chat = components["schemas"]["Chat"];' >typescript-chat.ts
cat >judge.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { writeFileSync } from "node:fs";
import ts from "typescript";
const values = { one: "1", object: "{ a: 1 }", null: "null", tuple: '["a", 1, 2]', plain: '"low"' };
const seen = {};
for (const library of ["orval", "swagger", "typescript"]) {
  seen[library] = {};
  for (const [name, value] of Object.entries(values)) {
    const file = `${library}-${name}.ts`;
    writeFileSync(file, `import type { Chat } from "./${library}-chat";\nexport const value: Chat["${name}"] = ${value};\n`);
    const program = ts.createProgram([file], { strict: true, noEmit: true, skipLibCheck: true, types: [] });
    const errors = ts.getPreEmitDiagnostics(program).filter((error) => error.file.fileName.endsWith(file));
    if (errors.length) seen[library][name] = ts.flattenDiagnosticMessageText(errors[0].messageText, " ");
  }
}
console.log(seen);
assert.deepStrictEqual(Object.fromEntries(Object.entries(seen).map(([library, errors]) => [library, Object.keys(errors)])), {
  orval: [],
  swagger: ["null", "tuple"],
  typescript: ["tuple"],
});
JAVASCRIPT
node judge.mjs
