/* Parts of a turn, `{role, text, files, calls}`, that several formats share. */

/** The types of files that a format takes; texts it takes as text. */
export const IMAGES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
export const PDF = "application/pdf";

const fileText = ({ name, text }) => `File ${name}:\n\n${text}`;

/** The parts of a turn: `text` writes a text, `file` any other file. */
export const parts = ({ text, files }, writeText, writeFile) => [
	...(text ? [writeText(text)] : []),
	...files.map((file) => (file.kind === "text" ? writeText(fileText(file)) : writeFile(file))),
];

/** The content of a turn: a text, or parts if there are files. */
export const content = (turn, writeText, writeFile) =>
	turn.files.length ? parts(turn, writeText, writeFile) : turn.text;

/** The base64 of a file. */
export const base64 = ({ data }) => data.slice(data.indexOf(",") + 1);

/** The value of a JSON text; undefined for any other text. */
export function parsed(text) {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** The arguments of a call as an object; none for what is not JSON. */
export const argumentsOf = ({ input }) => parsed(input) ?? {};
