import { at, button, h } from "./dom.js";
import { access } from "./settings.js";
import { entryOf, snapshot } from "./lanes.js";

/* The files of the next message: chosen, pasted or dropped. A file is `{kind, name, type, data}`, the
   data a data URL, or `{kind: "text", name, type, text}`. */

const MAX_SIZE = 15e6; // bytes; `server.max_body` is 25 MB by default
const MAX_TEXT = 1e6;

const form = at("composer");
const input = at("file");
let files = [];

/** Other names of types of sounds. */
const ALIASES = {
	"audio/x-wav": "audio/wav",
	"audio/wave": "audio/wav",
	"audio/vnd.wave": "audio/wav",
	"audio/mp3": "audio/mpeg",
	"audio/x-flac": "audio/flac",
	"audio/x-aiff": "audio/aiff",
};
const TEXT = /^(text\/|application\/([\w.-]+\+)?(json|xml|yaml|x-yaml|toml|javascript|sql)$)/;
const TEXT_NAME =
	/\.(txt|md|csv|tsv|json|jsonl|ya?ml|toml|xml|html?|css|[cm]?[jt]sx?|py|rb|go|rs|java|kt|c|h|cpp|cs|php|sh|sql|log|ini|conf|tex)$/i;

/** The kinds of files in sentences; the keys are those of the facts of models. */
const KINDS = { image: "images", pdf: "PDF files", audio: "audio" };

export const attached = () => files;

/** The type of a file, and its kind: image, pdf, audio, text, or "" for any other. */
function kindOf({ name, type }) {
	const known = ALIASES[type] ?? type;
	if (known.startsWith("image/") && known !== "image/svg+xml") return ["image", known];
	if (known.startsWith("audio/")) return ["audio", known];
	if (known === "application/pdf") return ["pdf", known];
	if (TEXT.test(known) || TEXT_NAME.test(name)) return ["text", known || "text/plain"];
	return ["", known];
}

/** The node that shows a file in a message or above it. */
export function fileNode({ kind, name, data, lost }) {
	if (lost) return h("span.file", `${name} (not kept by the reload)`);
	return kind === "image" ? h("img", { src: data, alt: name }) : h("span.file", name);
}

/** Replace the attached files. */
export function attach(all) {
	files = all.filter(({ lost }) => !lost);
	const nodes = files.map((file, i) => {
		const remove = button("✕", `Remove ${file.name}`, () => {
			attach(files.filter((_, other) => other !== i));
			at("draft").focus();
		});
		return h("div", fileNode(file), remove);
	});
	at("images").replaceChildren(...nodes);
}

async function add(list) {
	const notes = [];
	for (const file of list) {
		const [kind, type] = kindOf(file);
		const isLarge = file.size > (kind === "text" ? MAX_TEXT : MAX_SIZE);
		if (!kind) notes.push(`${file.name} is not an image, PDF, text or audio file.`);
		else if (isLarge) notes.push(`${file.name} is larger than ${kind === "text" ? 1 : 15} MB.`);
		else attach([...files, await read(file, kind, type)]);
	}
	at("composer-error").textContent = [...notes, ...(await objections(files))].join(" ");
}

async function read(file, kind, type) {
	const { name } = file;
	if (kind === "text") return { kind, name, type, text: await file.text() };
	const data = await new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(reader.result);
		reader.onerror = () => reject(reader.error);
		reader.readAsDataURL(file);
	});
	return { kind, name, type, data: data.replace(/^data:[^,;]*/, `data:${type}`) };
}

/** The models that are asked, each with its format; none without a token. */
function asked() {
	const formats = access()?.formats ?? [];
	const named = snapshot().map((lane) => {
		return { ...lane, format: formats.find(({ name }) => name === lane.format) };
	});
	return named.filter(({ model, format }) => model && format);
}

/** Why the formats of the lanes do not take files, as sentences. */
export async function refusals(files) {
	const sentences = asked().map(async ({ model, format: { title, module } }) => {
		const { takes } = await import(`./${module}.js`);
		return files
			.filter(({ kind, type }) => kind !== "text" && !takes.includes(type))
			.map(
				({ name, type }) => `The format ${title}, for ${model}, takes no ${type}: remove ${name}.`,
			);
	});
	return [...new Set((await Promise.all(sentences)).flat())];
}

/** The refusals, and a warning for each kind that a model is not known to take. */
async function objections(files) {
	const sentences = await refusals(files);
	for (const { model } of asked()) {
		const { input } = entryOf(model) ?? {};
		const unknown = files
			.map(({ kind }) => kind)
			.filter((kind) => input && kind !== "text" && !input.includes(kind));
		for (const kind of new Set(unknown))
			sentences.push(`${model} is not known to take ${KINDS[kind]}: it may refuse.`);
	}
	return sentences;
}

at("attach").onclick = () => input.click();
input.onchange = async () => {
	await add([...input.files]);
	input.value = "";
};
form.onpaste = (event) => {
	if (!event.clipboardData.files.length) return;
	event.preventDefault();
	add([...event.clipboardData.files]);
};
for (const kind of ["dragover", "dragleave", "drop"]) {
	document.addEventListener(kind, (event) => {
		if (!event.dataTransfer?.types.includes("Files")) return;
		event.preventDefault();
		form.classList.toggle("over", kind === "dragover");
		if (kind === "drop") add([...event.dataTransfer.files]);
	});
}
