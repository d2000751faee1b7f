import { at, h } from "../playground/dom.js";
import { textOf } from "./plugin.js";

/* The side bar: every operation by tag, and the search, which also filters what the page shows. */

const DELAY_MS = 150; // Swagger UI draws everything anew

export class SideBar {
	#groups = [];
	#timer = 0;

	#layout;

	/** `layout` are the actions of Swagger UI's layout. */
	constructor(document, layout) {
		this.#layout = layout;
		const tags = new Map();
		for (const [path, item] of Object.entries(document.paths)) {
			const { additionalOperations, ...fixed } = item;
			for (const [method, operation] of Object.entries({ ...fixed, ...additionalOperations })) {
				const [tag] = operation.tags;
				if (!tags.has(tag)) tags.set(tag, []);
				tags.get(tag).push(entry(path, method, operation, () => this.#open(tag, operation)));
			}
		}
		for (const [tag, entries] of tags) {
			const list = h("ul", ...entries.map(({ node }) => node));
			this.#groups.push({ node: h("div", h("p.tag", tag), list), entries });
		}
		at("operations").replaceChildren(...this.#groups.map(({ node }) => node));
		at("find").disabled = false;
		at("find").oninput = () => {
			const words = this.#find();
			clearTimeout(this.#timer);
			this.#timer = setTimeout(() => layout.updateFilter(words), DELAY_MS);
		};
		this.#find();
	}

	/** Open the operation that the address names. */
	openAddressed() {
		const entries = this.#groups.flatMap((group) => group.entries);
		if (location.hash) entries.find(({ hash }) => hash === location.hash)?.open();
	}

	/** Unfold an operation, and show it; of long lists Swagger UI has only what is seen. */
	#open(tag, { operationId }) {
		const key = ["operations", tag, operationId];
		this.#layout.show(["operations-tag", tag], true);
		this.#layout.show(key, true);
		this.#layout.scrollToVirtualizedOperation(key);
		const show = () => {
			const block = at(operationId);
			block?.scrollIntoView({ block: "start" });
			return block;
		};
		if (show()) return;
		const observer = new MutationObserver(() => show() && observer.disconnect());
		observer.observe(at("content"), { childList: true, subtree: true });
	}

	/** Show the entries that have all words of the search; returns its text. */
	#find() {
		const text = at("find").value.trim().toLowerCase();
		const words = text.split(/\s+/);
		let count = 0;
		let total = 0;
		for (const { node, entries } of this.#groups) {
			const found = entries.filter((each) => words.every((word) => each.text.includes(word)));
			for (const each of entries) each.node.hidden = !found.includes(each);
			node.hidden = !found.length;
			count += found.length;
			total += entries.length;
		}
		at("found").textContent = `${count} of ${total} operations`;
		return text;
	}
}

function entry(path, method, operation, open) {
	const { operationId, summary } = operation;
	const hash = `#${encodeURIComponent(operationId)}`;
	const kind = h("span.method", method.toUpperCase());
	const link = h("a", { href: hash, onclick: open }, kind, h("span", summary || path));
	return { node: h("li", link), text: textOf(path, operation), hash, open };
}
