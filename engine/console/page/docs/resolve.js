/* Resolves the references of a part of the document in place of Swagger UI, which for OpenAPI 3.1
   walks through the whole document for each operation that is opened: seconds of large ones. All
   references of the document lead to its own components. */

const MAX_NODES = 100_000; // of a part; references beyond stay as they are

const pointed = (document, ref) =>
	ref
		.slice(2)
		.split("/")
		.map((name) => decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~"))
		.reduce((value, name) => value?.[name], document);

/** `{spec, errors}`: the part at a path, with what its references name; cycles keep theirs. */
export function resolveSubtree(document, path) {
	let count = 0;
	const resolve = (value, within) => {
		if (Array.isArray(value)) return value.map((item) => resolve(item, within));
		if (value === null || typeof value !== "object") return value;
		const { $ref, ...members } = value;
		count++;
		if (typeof $ref === "string" && $ref.startsWith("#/")) {
			const target = pointed(document, $ref);
			if (target === undefined || within.includes($ref) || count > MAX_NODES) return value;
			return resolve({ ...target, ...members, $$ref: $ref }, [...within, $ref]);
		}
		const entries = Object.entries(value).map(([name, item]) => [name, resolve(item, within)]);
		return Object.fromEntries(entries);
	};
	const part = path.reduce((value, name) => value?.[name], document);
	return Promise.resolve({ spec: resolve(part, []), errors: [] });
}
