import { pathOf } from "./call.js";
import { at, button, h } from "./dom.js";
import { codeBlock, finish } from "./markdown.js";

/* The conversation as a program, with the token in the variable TOKEN. */

const LITERALS = { null: "None", true: "True", false: "False" };

/** A request as it is sent, but for the bytes of its files. */
function shortened({ own, body, files, ...rest }) {
	const bytes = new Map(
		files
			.filter(({ data }) => data)
			.flatMap(({ data }) => {
				const start = data.slice(0, data.indexOf(",") + 1);
				const note = "<the file in base64>";
				return [
					[data, start + note],
					[data.slice(start.length), note],
				];
			}),
	);
	const short = JSON.stringify({ own, body }, (_, value) => bytes.get(value) ?? value);
	return { ...rest, ...JSON.parse(short) };
}

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

function sdk(request, language, syntax) {
	const { wire, options } = request;
	const { start, call, stream, on_event, on_answer } = options.format.code[language];
	const args = syntax.args(wire.arguments_?.(request) ?? syntax.members(request));
	if (!options.stream) return `${start}\n${syntax.answer(`${call}(${args})`, on_answer)}`;
	return `${start}\n${syntax.events(`${stream || call}(${args})`, on_event)}`;
}

/** The members as arguments; those that the user has added may be unknown to an SDK. */
function keywords({ own, body }) {
	const added = Object.entries(body).filter(([name]) => !(name in own));
	const args = Object.fromEntries(Object.keys(own).map((name) => [name, body[name]]));
	return added.length ? { ...args, extra_body: Object.fromEntries(added) } : args;
}

const PYTHON = {
	members: keywords,
	args: (body) =>
		Object.entries(body)
			.map(([key, value]) => `\n    ${key}=${indented(python(value), "    ")},`)
			.join("") + "\n",
	events: (call, code) => `for event in ${call}:\n    ${indented(code, "    ")}`,
	answer: (call, code) => `answer = ${call}\n${code}`,
};
const TYPESCRIPT = {
	members: ({ body }) => body,
	args: json,
	events: (call, code) =>
		`for await (const event of await ${call}) {\n  ${indented(code, "  ")}\n}`,
	answer: (call, code) => `const answer = await ${call};\n${code}`,
};

const WRITERS = {
	curl,
	Python: (request) => sdk(request, "python", PYTHON),
	TypeScript: (request) => sdk(request, "javascript", TYPESCRIPT),
};

/** Open the dialog with requests as programs, in each language; one request is shown at a time. */
export function open(requests) {
	const names = requests.map(({ options }) => options.model);
	const model = h("select", { ariaLabel: "Model" }, ...names.map((name) => h("option", name)));
	model.hidden = requests.length < 2;
	let language = "curl";
	const show = () => {
		const { [model.selectedIndex]: request } = requests;
		const text = WRITERS[language](shortened(request));
		const code = codeBlock(text, language);
		for (const each of buttons) each.ariaPressed = String(each.textContent === language);
		at("program").replaceChildren(code);
		finish(code);
	};
	const buttons = Object.keys(WRITERS).map((name) =>
		button(name, null, () => {
			language = name;
			show();
		}),
	);
	model.onchange = show;
	at("languages").replaceChildren(...buttons);
	at("code-model").replaceChildren(model);
	show();
	at("dialog").showModal();
}

at("close").onclick = () => at("dialog").close();
