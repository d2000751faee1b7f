import { pathOf } from "./call.js";
import { at, button } from "./dom.js";
import { codeBlock } from "./markdown.js";

/* The present conversation as a program; the token stands there as the variable TOKEN. */

const WORDS = { null: "None", true: "True", false: "False" };
const IMAGE = /(data:image\/\w+;base64,)[A-Za-z0-9+/=]{60,}|^[A-Za-z0-9+/=]{400,}$/;

/** The same without images' bytes, which nobody wants to read, and without what is not given. */
const shortened = (body) =>
	JSON.parse(
		JSON.stringify(body, (_, value) => value?.replace?.(IMAGE, "$1<the image in base64>") ?? value),
	);

const json = (value) => JSON.stringify(value, null, 2);

/** A value as Python writes it: JSON, but for three words. */
export const python = (value) =>
	JSON.stringify(value, null, 4).replace(/"(?:[^"\\]|\\.)*"|\w+/g, (word) => WORDS[word] ?? word);

/** Text in a shell's single quotes. */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const indented = (text, pad) => text.replaceAll("\n", `\n${pad}`);

function curl({ wire, said, body }) {
	const headers = Object.entries({ ...wire.headers("$TOKEN"), "content-type": "application/json" });
	const lines = headers.map(([name, value]) => `  -H "${name}: ${value}"`);
	const address = `curl${said.stream ? " -N" : ""} ${quoted(said.base + pathOf(said))}`;
	return [address, ...lines, `  -d ${quoted(json(body))}`].join(" \\\n");
}

/** A program that uses an SDK, as its language is written. */
function sdk({ wire, said, body }, language, write) {
	const { start, call, stream, each, whole } = said.format.code[language];
	const given = wire.arguments_?.(body, said.model) ?? body;
	const asked = `${(said.stream && stream) || call}(${write.given(given)})`;
	return `${start}\n${said.stream ? write.each(asked, each) : write.whole(asked, whole)}`;
}

const PYTHON = {
	given: (given) =>
		Object.entries(given)
			.map(([key, value]) => `\n    ${key}=${indented(python(value), "    ")},`)
			.join("") + "\n",
	each: (asked, each) => `for event in ${asked}:\n    ${indented(each, "    ")}`,
	whole: (asked, whole) => `answer = ${asked}\n${whole}`,
};
const JAVASCRIPT = {
	given: json,
	each: (asked, each) =>
		`for await (const event of await ${asked}) {\n  ${indented(each, "  ")}\n}`,
	whole: (asked, whole) => `const answer = await ${asked};\n${whole}`,
};

const WRITERS = {
	curl,
	Python: (talk) => sdk(talk, "python", PYTHON),
	JavaScript: (talk) => sdk(talk, "javascript", JAVASCRIPT),
};

/** Open the dialog with the request as a program in each language. */
export function open({ wire, said, body }) {
	const talk = { wire, said, body: shortened(body) };
	const keys = Object.entries(WRITERS).map(([language, write]) =>
		button(language, null, ({ currentTarget }) => {
			for (const key of keys) key.ariaPressed = String(key === currentTarget);
			at("program").replaceChildren(codeBlock(write(talk), language));
		}),
	);
	at("languages").replaceChildren(...keys);
	keys[0].click();
	at("dialog").showModal();
}

at("close").onclick = () => at("dialog").close();
