/* Swagger UI 4 reads OpenAPI 3.0. What 3.1 says beyond that is said as 3.0 says it, for the eye
   alone: /openapi.json stays as it is. */

const LITERAL = ["example", "default", "value", "enum"];
const NAMES = [
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
/** What 3.0 has no words for. */
const NEWER = ["if", "then", "else", "$defs", "prefixItems", "unevaluatedProperties"];

const isNull = (one) => one?.type === "null" || one?.const === null;

/** A part of the document, of which only schemas have what is changed here. */
function older(part) {
	const { $ref, ...made } = part;
	if (typeof $ref === "string") return referred($ref, made);
	kinds(made);
	choices(made, "anyOf");
	choices(made, "oneOf");
	limit(made, "minimum", "exclusiveMinimum");
	limit(made, "maximum", "exclusiveMaximum");
	if ("const" in made) {
		made.enum = [made.const];
		delete made.const;
	}
	if (Array.isArray(made.examples)) {
		made.example ??= made.examples[0];
		delete made.examples;
	}
	for (const key of NEWER) delete made[key];
	return made;
}

/** 3.0 reads nothing beside a reference to a schema. */
function referred($ref, beside) {
	const isSchema = $ref.startsWith("#/components/schemas/");
	if (!isSchema || !Object.keys(beside).length) return { $ref, ...beside };
	return { ...older(beside), allOf: [...(beside.allOf ?? []), { $ref }] };
}

function kinds(made) {
	if (!Array.isArray(made.type)) return;
	const said = made.type.filter((kind) => kind !== "null");
	if (said.length < made.type.length) made.nullable = true;
	delete made.type;
	if (said.length === 1) made.type = said[0];
	else if (!made.anyOf) made.anyOf = said.map((type) => ({ type }));
}

function choices(made, name) {
	const said = made[name];
	if (!Array.isArray(said) || !said.some(isNull)) return;
	made.nullable = true;
	made[name] = said.filter((one) => !isNull(one));
	if (made[name].length > 1) return;
	made.allOf = [...(made.allOf ?? []), ...made[name]];
	delete made[name];
}

/** A limit that is not itself allowed is a number in 3.1, a yes beside the limit in 3.0. */
function limit(made, name, excluding) {
	const value = made[excluding];
	if (typeof value !== "number") return;
	if (made[name] !== undefined && made[name] !== value) delete made[excluding];
	else Object.assign(made, { [name]: value, [excluding]: true });
}

/** `names` tells whether the keys of an object are names, not words of the standard. */
function walk(value, names) {
	if (Array.isArray(value)) return value.map((one) => walk(one, false));
	if (value === null || typeof value !== "object") return value;
	const entries = Object.entries(names ? value : older(value)).map(([key, one]) => {
		if (!names && LITERAL.includes(key)) return [key, one];
		if (!names && key === "properties") one = said(one);
		return [key, walk(one, !names && NAMES.includes(key) && !Array.isArray(one))];
	});
	return Object.fromEntries(entries);
}

/** Properties of which anything may be the value: 3.1 says `true` of them. */
const said = (properties) =>
	Object.fromEntries(
		Object.entries(properties).map(([name, one]) => [name, one === true ? {} : one]),
	);

/** An OpenAPI 3.1 document as 3.0. */
export function plainer(document) {
	return { ...walk(document, false), openapi: "3.0.3" };
}
