import { entryOf } from "./lanes.js";
import { access, secret } from "./settings.js";

/** The options of a request: what it is made of, with the format and the price. */
export function optionsOf(choice) {
	const data = access();
	const format = data.formats.find(({ name }) => name === choice.format);
	const stream = (choice.stream && format.stream !== "") || undefined;
	const { base, currency } = data;
	const price = entryOf(choice.model)?.price;
	return { ...choice, base, currency, token: secret(), format, stream, price };
}

/**
 * The request of a choice for these turns, `own` without what the user has added to it; its files,
 * and the module of its format.
 */
export async function build(choice, turns) {
	const options = optionsOf(choice);
	const wire = await import(`./${options.format.module}.js`);
	const read = readable(turns, choice.format);
	const own = wire.body(read, options);
	const body = { ...own };
	for (const [key, value] of Object.entries(options.extra)) {
		body[key] = value?.constructor === Object ? { ...body[key], ...value } : value;
	}
	return { wire, options, own, body, files: read.flatMap(({ files }) => files) };
}

/** The turns that have content. What a format keeps of a reply is for the same format only. */
function readable(turns, format) {
	return turns
		.map((turn) => ({ calls: [], ...turn, files: turn.files.filter(({ lost }) => !lost) }))
		.filter(({ text, files, calls }) => text || files.length || calls.length)
		.map((turn) => (turn.format === format ? turn : { ...turn, opaque: undefined }));
}
