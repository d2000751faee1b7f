#!/usr/bin/env bash
# zod 4.6.7 (`z.fromJSONSchema`), json-schema-to-zod 2.8.1, @composio/json-schema-to-zod 0.3.0 and
# @dmitryrechkin/json-schema-to-zod 1.0.1 (npm): the Zod schema made of a JSON Schema refuses valid values and takes
# others, without an error.
#
# Frameworks of agents make Zod schemas of the input schemas of MCP tools and of OpenAPI documents with them. The eleven
# schemas below are JSON Schema 2020-12: `enum` and `const` have values of any type (Validation, 6.1.2 and 6.1.3), a name
# in `required` need not be in `properties` (6.5.3), `minLength` holds for strings without a `type` (Core, 7.6.1),
# `anyOf` and `oneOf` hold beside other keywords (10.2.1), and `items` is for what follows `prefixItems` (10.3.1.2).
# - zod refuses each value of an enum or a const of objects, and each object for a `oneOf` of `required`; it takes objects
#   without a required member. For keywords that it does not know, such as `not` and `if`, it has an error; here, none.
# - The others refuse `["a", 1]` for a string followed by numbers, and more, and take objects without a required member;
#   for a `oneOf` of `required` json-schema-to-zod writes code with a syntax error.
# Ajv 8.20.0, @cfworker/json-schema 4.1.6 and zod-from-json-schema 0.5.6 judge all values rightly.
#
# An agent cannot call a tool whose valid arguments are refused, or calls it with arguments that the tool refuses.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund zod@4.6.7 json-schema-to-zod@2.8.1 @composio/json-schema-to-zod@0.3.0 \
  @dmitryrechkin/json-schema-to-zod@1.0.1 zod-from-json-schema@0.5.6 ajv@8.20.0 @cfworker/json-schema@4.1.6
cat >judge.mjs <<'JAVASCRIPT'
import assert from "node:assert";
import { Validator } from "@cfworker/json-schema";
import * as composio from "@composio/json-schema-to-zod";
import { JSONSchemaToZod } from "@dmitryrechkin/json-schema-to-zod";
import Ajv from "ajv/dist/2020.js";
import { jsonSchemaToZod } from "json-schema-to-zod";
import * as z from "zod";
import { convertJsonSchemaToZod } from "zod-from-json-schema";
const text = { type: "string" };
const a = { type: "object", properties: { a: text }, required: ["a"] };
const b = { type: "object", properties: { b: text }, required: ["b"] };
const either = [{ required: ["a"] }, { required: ["b"] }];
const properties = { a: text, b: text };
// The schema, valid values, values that are not.
const schemas = {
  "enum of objects": [{ enum: [{ a: 1 }, [1]] }, [{ a: 1 }, [1]], [{ a: 2 }]],
  "const of an object": [{ const: { a: [1] } }, [{ a: [1] }], [{ a: [2] }]],
  "const null": [{ const: null }, [null], [0]],
  "required without properties": [{ type: "object", required: ["a"] }, [{ a: 1 }], [{}]],
  "minLength without type": [{ minLength: 2 }, ["ab", 5], ["a"]],
  "anyOf of required": [{ type: "object", properties, anyOf: either }, [{ a: "x" }, { b: "x" }], [{}, { a: 1 }]],
  "oneOf of required": [{ type: "object", properties, oneOf: either }, [{ a: "x" }], [{ a: "x", b: "x" }]],
  "allOf of objects": [{ allOf: [a, b] }, [{ a: "x", b: "x" }, { a: "x", b: "x", c: 1 }], [{ a: "x" }]],
  "items behind prefixItems": [{ type: "array", prefixItems: [text], items: { type: "number" } }, [["a", 1]], [["a", "b"]]],
  "names by a pattern": [{ type: "object", patternProperties: { "^x-": { type: "number" } } }, [{ "x-a": 1 }], [{ "x-a": "s" }]],
  "minimum and maximum": [{ type: "number", exclusiveMinimum: 0, maximum: 5 }, [1, 5], [0, 6]],
};
const check = (schema) => (value) => schema.safeParse(value).success;
const libraries = {
  zod: (schema) => check(z.fromJSONSchema(schema)),
  "json-schema-to-zod": (schema) => check(Function("z", `return ${jsonSchemaToZod(schema)}`)(z)),
  composio: (schema) => check(composio.jsonSchemaToZod(schema)),
  dmitryrechkin: (schema) => check(JSONSchemaToZod.convert(schema)),
  "zod-from-json-schema": (schema) => check(convertJsonSchemaToZod(schema)),
  ajv: (schema) => new Ajv({ strict: false }).compile(schema),
  cfworker: (schema) => (value) => new Validator(schema, "2020-12").validate(value).valid,
};
const seen = {};
for (const [library, compile] of Object.entries(libraries)) {
  seen[library] = {};
  for (const [name, [schema, valid, invalid]] of Object.entries(schemas)) {
    let judge;
    try {
      judge = compile(schema);
    } catch (error) {
      seen[library][name] = error.name;
      continue;
    }
    const refused = valid.filter((value) => !judge(value)).map((value) => `refuses ${JSON.stringify(value)}`);
    const taken = invalid.filter((value) => judge(value)).map((value) => `takes ${JSON.stringify(value)}`);
    if (refused.length + taken.length) seen[library][name] = [...refused, ...taken].join(", ");
  }
}
console.log(seen);
assert.deepStrictEqual(seen, {
  zod: {
    "enum of objects": 'refuses {"a":1}, refuses [1]',
    "const of an object": 'refuses {"a":[1]}',
    "required without properties": "takes {}",
    "minLength without type": 'takes "a"',
    "anyOf of required": "takes {}",
    "oneOf of required": 'refuses {"a":"x"}',
  },
  "json-schema-to-zod": {
    "enum of objects": 'refuses {"a":1}, refuses [1]',
    "const of an object": 'refuses {"a":[1]}',
    "required without properties": "takes {}",
    "minLength without type": 'takes "a"',
    "anyOf of required": "takes {}",
    "oneOf of required": "SyntaxError",
    "items behind prefixItems": 'refuses ["a",1]',
  },
  composio: {
    "enum of objects": 'refuses {"a":1}, refuses [1]',
    "const of an object": 'refuses {"a":[1]}',
    "required without properties": "takes {}",
    "minLength without type": 'takes "a"',
    "anyOf of required": "takes {}",
    "oneOf of required": 'refuses {"a":"x"}',
    "allOf of objects": 'refuses {"a":"x","b":"x"}, refuses {"a":"x","b":"x","c":1}',
    "items behind prefixItems": 'refuses ["a",1]',
  },
  dmitryrechkin: {
    "enum of objects": 'takes {"a":2}',
    "const of an object": 'takes {"a":[2]}',
    "const null": "takes 0",
    "required without properties": 'refuses {"a":1}, takes {}',
    "minLength without type": 'takes "a"',
    "anyOf of required": 'takes {}, takes {"a":1}',
    "oneOf of required": 'takes {"a":"x","b":"x"}',
    "allOf of objects": 'refuses {"a":"x","b":"x","c":1}',
    "items behind prefixItems": 'refuses ["a",1]',
    "names by a pattern": 'refuses {"x-a":1}',
    "minimum and maximum": "takes 0, takes 6",
  },
  "zod-from-json-schema": {},
  ajv: {},
  cfworker: {},
});
JAVASCRIPT
node judge.mjs
