import { h } from "../playground/dom.js";
import { Problem } from "../playground/problem.js";

/* A form from the JSON Schema of a tool's arguments. What has no field of its own is written as JSON. */

const MAX_DEPTH = 3;

let numbers = 0; // for ids

/** The fields of a schema of an object: `nodes`, and `values()`, which throws Problem. */
export function fieldsOf(schema, root = schema, path = "", depth = 0) {
	const required = schema.required ?? [];
	const fields = Object.entries(schema.properties ?? {}).map(([name, below]) => {
		const place = path ? `${path}.${name}` : name;
		const resolved = resolve(below, root);
		return { name, ...field(name, resolved, root, place, required.includes(name), depth) };
	});
	return {
		nodes: fields.map(({ node }) => node),
		values: () => {
			const read = fields.map(({ name, value }) => [name, value()]);
			return Object.fromEntries(read.filter(([, value]) => value !== undefined));
		},
	};
}

/** The schema that a reference names. */
function resolve(schema, root) {
	let found = schema;
	for (let step = 0; step < 10 && found?.$ref?.startsWith("#/$defs/"); step++) {
		const { $ref, ...rest } = found;
		found = { ...root.$defs?.[decodeURIComponent($ref.slice(8))], ...rest };
	}
	return typeof found === "object" && found !== null ? found : {};
}

const typeOf = ({ type }) =>
	Array.isArray(type) ? type.filter((name) => name !== "null").join() : (type ?? "");

function field(name, schema, root, place, isRequired, depth) {
	const isPlain = !["oneOf", "anyOf", "allOf"].some((word) => schema[word]);
	if (isPlain && typeOf(schema) === "object" && schema.properties && depth < MAX_DEPTH) {
		return group(name, schema, root, place, isRequired, depth);
	}
	const id = `field-${++numbers}`;
	const { input, read } = control(schema, place, isPlain);
	Object.assign(input, { id, required: isRequired && input.tagName !== "SELECT" });
	const label = h("label", { htmlFor: id }, isRequired ? `${name} (required)` : name);
	const hint = schema.description ? h("p.muted", { id: `${id}-hint` }, schema.description) : null;
	if (hint) input.setAttribute("aria-describedby", hint.id);
	return { node: h("div.field", label, input, hint), value: read };
}

/** A group of fields; nothing is sent if all are empty, and it may be left out. */
function group(name, schema, root, place, isRequired, depth) {
	const { nodes, values } = fieldsOf(schema, root, place, depth + 1);
	const hint = schema.description ? h("p.muted", schema.description) : null;
	const legend = h("legend", isRequired ? `${name} (required)` : name);
	if (!isRequired) for (const node of nodes) optional(node);
	const value = () => {
		const read = values();
		return isRequired || Object.keys(read).length ? read : undefined;
	};
	return { node: h("fieldset", legend, hint, ...nodes), value };
}

/** The gateway says what is missing of a group that is given. */
function optional(node) {
	for (const input of node.querySelectorAll("[required]")) input.required = false;
}

/** The element for a value, and the function that reads it: undefined for an empty one. */
function control(schema, place, isPlain) {
	const type = isPlain ? typeOf(schema) : "";
	if (schema.enum || "const" in schema) return choice(schema.enum ?? [schema.const]);
	if (type === "boolean") return choice([true, false]);
	if (type === "integer" || type === "number") {
		const input = h("input", { type: "number", step: type === "integer" ? "1" : "any" });
		return { input, read: () => (input.value === "" ? undefined : Number(input.value)) };
	}
	if (type === "string") {
		const input = h("input", { type: "text" });
		return { input, read: () => (input.value === "" ? undefined : input.value) };
	}
	const input = h("textarea", { rows: 3, placeholder: `JSON${type ? `: ${type}` : ""}` });
	return { input, read: () => parse(input.value, place) };
}

function choice(values) {
	const options = values.map((value) => h("option", JSON.stringify(value)));
	const input = h("select", h("option", { value: "" }, "–"), ...options);
	return { input, read: () => (input.value === "" ? undefined : JSON.parse(input.value)) };
}

/** The value of a JSON text, undefined for an empty one. Throws Problem. */
export function parse(text, place) {
	if (!text.trim()) return undefined;
	try {
		return JSON.parse(text);
	} catch ({ message }) {
		throw new Problem(`“${place}” is not JSON: ${message}`);
	}
}
