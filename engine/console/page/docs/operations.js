import { at, h } from "../playground/dom.js";
import { textOf } from "./plugin.js";

/* Every operation by tag, in the side bar and on the page, and the search in both. Swagger UI takes
   the place of the list on the page when an operation is opened. */

/** The operations of a document by tag, each with the text in which the search looks. */
function groupsOf(document) {
	const groups = new Map();
	for (const [path, item] of Object.entries(document.paths)) {
		const { additionalOperations, ...fixed } = item;
		for (const [method, operation] of Object.entries({ ...fixed, ...additionalOperations })) {
			const { operationId, summary, tags } = operation;
			const [tag] = tags;
			const entry = { tag, path, method: method.toUpperCase(), operationId, summary };
			const search = { hash: `#${encodeURIComponent(operationId)}`, text: textOf(path, operation) };
			if (!groups.has(tag)) groups.set(tag, []);
			groups.get(tag).push({ ...entry, ...search, nodes: [] });
		}
	}
	return groups;
}

export class Operations {
	#groups;
	#nodes = new Map(); // those of a tag
	#open;

	/** `open` is called with the entry that is chosen. */
	constructor(document, open) {
		this.#groups = groupsOf(document);
		this.#open = open;
		const about = new Map(document.tags?.map(({ name, description }) => [name, description]));
		const side = [];
		const page = [];
		for (const [tag, entries] of this.#groups) {
			const title = ({ method, summary, path }) => [
				h("span.method", method),
				h("span", summary || path),
			];
			const row = ({ method, summary, path }) => [
				h("span.method", method),
				h("code", path),
				h("span.muted", summary ?? ""),
			];
			const head = h("div", h("h2", tag), about.get(tag) && h("p.muted", about.get(tag)));
			side.push(h("div", h("p.tag", tag), this.#list(entries, title)));
			page.push(h("section.overview", head, this.#list(entries, row)));
			this.#nodes.set(tag, [side.at(-1), page.at(-1)]);
		}
		at("operations").replaceChildren(...side);
		at("content").replaceChildren(...page);
		at("find").disabled = false;
		this.find();
	}

	#list(entries, parts) {
		const items = entries.map((entry) => {
			const link = h("a", { href: entry.hash, onclick: () => this.#open(entry) }, ...parts(entry));
			entry.nodes.push(h("li", link));
			return entry.nodes.at(-1);
		});
		return h("ul", ...items);
	}

	/** The operation that the address names. */
	addressed() {
		const entries = [...this.#groups.values()].flat();
		return location.hash && entries.find(({ hash }) => hash === location.hash);
	}

	/** Show the entries that have all words of the search; returns its text. */
	find() {
		const text = at("find").value.trim().toLowerCase();
		const words = text.split(/\s+/);
		let count = 0;
		let total = 0;
		for (const [tag, entries] of this.#groups) {
			let matches = 0;
			for (const entry of entries) {
				const isMatch = words.every((word) => entry.text.includes(word));
				for (const node of entry.nodes) node.hidden = !isMatch;
				matches += isMatch;
			}
			for (const node of this.#nodes.get(tag)) node.hidden = !matches;
			count += matches;
			total += entries.length;
		}
		at("found").textContent = `${count} of ${total} operations`;
		return text;
	}
}

/** Unfold an operation of Swagger UI, and show it; of long lists it has only what is seen. */
export function unfold(layout, { tag, operationId }) {
	const key = ["operations", tag, operationId];
	layout.show(["operations-tag", tag], true);
	layout.show(key, true);
	layout.scrollToVirtualizedOperation(key);
	const show = () => {
		const block = at(operationId);
		block?.scrollIntoView({ block: "start" });
		if (document.activeElement === document.body) block?.querySelector("button")?.focus();
		return block;
	};
	if (show()) return;
	const observer = new MutationObserver(() => show() && observer.disconnect());
	observer.observe(at("content"), { childList: true, subtree: true });
}
