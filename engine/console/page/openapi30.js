/* Converts the merged document to OpenAPI 3.0, which is what Swagger UI 4 reads. For display only:
   /openapi.json stays 3.1. */

const LITERAL = ["example", "default", "value", "enum"];
const MAPS = [
	"properties",
	"schemas",
	"examples",
	"parameters",
	"responses",
	"requestBodies",
	"headers",
	"content",
	"encoding",
	"securitySchemes",
	"mapping",
];
/** Keywords without a counterpart in 3.0. */
const UNSUPPORTED = ["if", "then", "else", "$defs", "prefixItems", "unevaluatedProperties"];

const isNull = (schema) => schema?.type === "null" || schema?.const === null;

/** Convert the members of one object; only schemas have any of these. */
function convertObject(object) {
	const { $ref, ...schema } = object;
	if (typeof $ref === "string") return convertReference($ref, schema);
	convertType(schema);
	convertChoices(schema, "anyOf");
	convertChoices(schema, "oneOf");
	convertLimit(schema, "minimum", "exclusiveMinimum");
	convertLimit(schema, "maximum", "exclusiveMaximum");
	if ("const" in schema) {
		schema.enum = [schema.const];
		delete schema.const;
	}
	if (Array.isArray(schema.examples)) {
		schema.example ??= schema.examples[0];
		delete schema.examples;
	}
	for (const key of UNSUPPORTED) delete schema[key];
	return schema;
}

/** 3.0 ignores the members beside a reference to a schema: they go around an `allOf`. */
function convertReference($ref, siblings) {
	const isSchema = $ref.startsWith("#/components/schemas/");
	if (!isSchema || !Object.keys(siblings).length) return { $ref, ...siblings };
	return { ...convertObject(siblings), allOf: [...(siblings.allOf ?? []), { $ref }] };
}

/** A list of types becomes one type, or an `anyOf`; "null" becomes `nullable`. */
function convertType(schema) {
	if (!Array.isArray(schema.type)) return;
	const types = schema.type.filter((type) => type !== "null");
	if (types.length < schema.type.length) schema.nullable = true;
	delete schema.type;
	if (types.length === 1) schema.type = types[0];
	else if (!schema.anyOf) schema.anyOf = types.map((type) => ({ type }));
}

/** A choice of null becomes `nullable`. */
function convertChoices(schema, keyword) {
	const choices = schema[keyword];
	if (!Array.isArray(choices) || !choices.some(isNull)) return;
	schema.nullable = true;
	schema[keyword] = choices.filter((choice) => !isNull(choice));
	if (schema[keyword].length > 1) return;
	schema.allOf = [...(schema.allOf ?? []), ...schema[keyword]];
	delete schema[keyword];
}

/** An exclusive limit is a number in 3.1, a boolean beside the limit in 3.0. */
function convertLimit(schema, keyword, exclusive) {
	const value = schema[exclusive];
	if (typeof value !== "number") return;
	if (schema[keyword] !== undefined && schema[keyword] !== value) delete schema[exclusive];
	else Object.assign(schema, { [keyword]: value, [exclusive]: true });
}

/** Convert a part of the document; the keys of a map are names, not keywords. */
function convert(value, isMap) {
	if (Array.isArray(value)) return value.map((item) => convert(item, false));
	if (value === null || typeof value !== "object") return value;
	const entries = Object.entries(isMap ? value : convertObject(value)).map(([key, item]) => {
		if (!isMap && LITERAL.includes(key)) return [key, item];
		if (!isMap && key === "properties") item = convertTrue(item);
		return [key, convert(item, !isMap && MAPS.includes(key) && !Array.isArray(item))];
	});
	return Object.fromEntries(entries);
}

/** Properties with the schema `true`, which 3.0 writes as `{}`. */
const convertTrue = (properties) =>
	Object.fromEntries(
		Object.entries(properties).map(([name, schema]) => [name, schema === true ? {} : schema]),
	);

/** An OpenAPI 3.1 document as 3.0. */
export function toOpenApi30(document) {
	return { ...convert(document, false), openapi: "3.0.3" };
}
