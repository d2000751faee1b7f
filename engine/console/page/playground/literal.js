import { arguments_ } from "./generate.js";
import { pathOf } from "./call.js";

/* The present conversation as a program; the token stands there as the variable TOKEN. */

const NAMES = { null: "None", true: "True", false: "False" };
const IMAGE = /(data:image\/\w+;base64,)[A-Za-z0-9+/=]{60,}|^[A-Za-z0-9+/=]{400,}$/;

/** The same without images' bytes: nobody wants to read them. */
function shortened(value) {
	if (typeof value === "string") return value.replace(IMAGE, "$1<the image in base64>");
	if (Array.isArray(value)) return value.map(shortened);
	if (value === null || typeof value !== "object") return value;
	const kept = Object.entries(value).filter(([, one]) => one !== undefined);
	return Object.fromEntries(kept.map(([key, one]) => [key, shortened(one)]));
}

/** A value as Python writes it. */
export function python(value, pad = "") {
	if (value === null || typeof value === "boolean") return NAMES[value];
	if (typeof value !== "object") return JSON.stringify(value);
	const inner = `${pad}    `;
	const isList = Array.isArray(value);
	const parts = isList
		? value.map((one) => python(one, inner))
		: Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${python(one, inner)}`);
	const [open, close] = isList ? "[]" : "{}";
	const line = open + parts.join(", ") + close;
	if (line.length < 70 && !line.includes("\n")) return line;
	return `${open}\n${parts.map((part) => `${inner}${part},\n`).join("")}${pad}${close}`;
}

/** Text in a shell's single quotes. */
export const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const indented = (text, pad) => text.replaceAll("\n", `\n${pad}`);

function curl({ format, wire, said, base, body }) {
	const headers = Object.entries({ ...wire.headers("$TOKEN"), "content-type": "application/json" });
	const lines = headers.map(([name, value]) => `  -H "${name}: ${value}"`);
	const flag = said.stream ? " -N" : "";
	return [
		`curl${flag} ${quoted(base + pathOf(format, said))}`,
		...lines,
		`  -d ${quoted(JSON.stringify(body, null, 2))}`,
	].join(" \\\n");
}

function parts({ format, said, body }, language) {
	const code = format.code[language];
	const given = format.name === "generate" ? arguments_(body, said.model) : body;
	return { ...code, given, name: (said.stream && code.stream) || code.call };
}

function pythonCode(talk) {
	const { start, given, name, each, whole } = parts(talk, "python");
	const lines = Object.entries(given).map(
		([key, value]) => `    ${key}=${python(value, "    ")},\n`,
	);
	const asked = `${name}(\n${lines.join("")})`;
	const rest = talk.said.stream
		? `for event in ${asked}:\n    ${indented(each, "    ")}`
		: `answer = ${asked}\n${whole}`;
	return `${start}\n${rest}`;
}

function javascriptCode(talk) {
	const { start, given, name, each, whole } = parts(talk, "javascript");
	const asked = `await ${name}(${JSON.stringify(given, null, 2)})`;
	const rest = talk.said.stream
		? `for await (const event of ${asked}) {\n  ${indented(each, "  ")}\n}`
		: `const answer = ${asked};\n${whole}`;
	return `${start}\n${rest}`;
}

const WRITERS = { curl, python: pythonCode, javascript: javascriptCode };

/** The program in a language: curl, python, javascript. */
export const program = (language, talk) =>
	WRITERS[language]({ ...talk, body: shortened(talk.body) });
