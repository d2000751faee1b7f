/* Swagger UI 4 reads OpenAPI 3.0. What 3.1 says beyond that is said as 3.0 says it, for the eye
   alone: /openapi.json stays as it is. */

const LITERAL = ["example", "default", "value"];
const NAMES = [
	"properties",
	"schemas",
	"examples",
	"parameters",
	"responses",
	"headers",
	"content",
];

function schema(one) {
	const made = { ...one };
	if (Array.isArray(made.type)) {
		const kinds = made.type.filter((kind) => kind !== "null");
		if (kinds.length < made.type.length) made.nullable = true;
		delete made.type;
		if (kinds.length === 1) made.type = kinds[0];
		else if (!made.anyOf) made.anyOf = kinds.map((type) => ({ type }));
	}
	if ("const" in made) {
		made.enum = [made.const];
		delete made.const;
	}
	if (Array.isArray(made.examples)) {
		made.example ??= made.examples[0];
		delete made.examples;
	}
	for (const key of ["if", "then", "else", "$defs", "unevaluatedProperties", "propertyNames"])
		delete made[key];
	return made;
}

function walk(value, named) {
	if (Array.isArray(value)) return value.map((one) => walk(one, false));
	if (value === null || typeof value !== "object") return value;
	const source = named ? value : schema(value);
	const entries = Object.entries(source).map(([key, one]) => {
		if (!named && (LITERAL.includes(key) || key === "enum")) return [key, one];
		return [key, walk(one, !named && NAMES.includes(key) && !Array.isArray(one))];
	});
	return Object.fromEntries(entries);
}

/** An OpenAPI 3.1 document as 3.0. */
export function plainer(document) {
	return { ...walk(document, false), openapi: "3.0.3" };
}
