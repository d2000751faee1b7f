import { pathOf } from "./call.js";
import { at, button } from "./dom.js";
import { codeBlock } from "./markdown.js";

/* The conversation as a program, with the token in the variable TOKEN. */

const LITERALS = { null: "None", true: "True", false: "False" };
const IMAGE = /(data:image\/\w+;base64,)[A-Za-z0-9+/=]{60,}|^[A-Za-z0-9+/=]{400,}$/;

/** The body without the bytes of images and without undefined members. */
const shortened = (body) =>
	JSON.parse(
		JSON.stringify(body, (_, value) => value?.replace?.(IMAGE, "$1<the image in base64>") ?? value),
	);

const json = (value) => JSON.stringify(value, null, 2);

/** A value as a Python literal: JSON, except for three words. */
export const python = (value) =>
	JSON.stringify(value, null, 4).replace(
		/"(?:[^"\\]|\\.)*"|\w+/g,
		(word) => LITERALS[word] ?? word,
	);

const shellQuoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const indented = (text, pad) => text.replaceAll("\n", `\n${pad}`);

function curl({ wire, options, body }) {
	const headers = Object.entries({ ...wire.headers("$TOKEN"), "content-type": "application/json" });
	const lines = headers.map(([name, value]) => `  -H "${name}: ${value}"`);
	const url = shellQuoted(options.base + pathOf(options));
	const command = `curl${options.stream ? " -N" : ""} ${url}`;
	return [command, ...lines, `  -d ${shellQuoted(json(body))}`].join(" \\\n");
}

function sdk({ wire, options, body }, language, syntax) {
	const { start, call, stream, on_event, on_answer } = options.format.code[language];
	const args = syntax.args(wire.arguments_?.(body, options.model) ?? body);
	if (!options.stream) return `${start}\n${syntax.answer(`${call}(${args})`, on_answer)}`;
	return `${start}\n${syntax.events(`${stream || call}(${args})`, on_event)}`;
}

const PYTHON = {
	args: (body) =>
		Object.entries(body)
			.map(([key, value]) => `\n    ${key}=${indented(python(value), "    ")},`)
			.join("") + "\n",
	events: (call, code) => `for event in ${call}:\n    ${indented(code, "    ")}`,
	answer: (call, code) => `answer = ${call}\n${code}`,
};
const JAVASCRIPT = {
	args: json,
	events: (call, code) =>
		`for await (const event of await ${call}) {\n  ${indented(code, "  ")}\n}`,
	answer: (call, code) => `const answer = await ${call};\n${code}`,
};

const WRITERS = {
	curl,
	Python: (request) => sdk(request, "python", PYTHON),
	JavaScript: (request) => sdk(request, "javascript", JAVASCRIPT),
};

/** Open the dialog with the request as a program in each language. */
export function open(request) {
	const short = { ...request, body: shortened(request.body) };
	const buttons = Object.entries(WRITERS).map(([language, write]) =>
		button(language, null, ({ currentTarget }) => {
			for (const each of buttons) each.ariaPressed = String(each === currentTarget);
			at("program").replaceChildren(codeBlock(write(short), language));
		}),
	);
	at("languages").replaceChildren(...buttons);
	buttons[0].click();
	at("dialog").showModal();
}

at("close").onclick = () => at("dialog").close();
