import { at, h } from "../playground/dom.js";
import { textOf } from "./plugin.js";

/* The side bar: every operation by tag, and the search, which also filters what the page shows. */

const DELAY_MS = 150; // Swagger UI draws everything anew

export class SideBar {
	#groups = [];
	#timer = 0;

	/** `filter` is called with the words of the search, in lower case. */
	constructor(document, filter) {
		const tags = new Map();
		for (const [path, item] of Object.entries(document.paths)) {
			const { additionalOperations, ...fixed } = item;
			for (const [method, operation] of Object.entries({ ...fixed, ...additionalOperations })) {
				const [tag] = operation.tags;
				if (!tags.has(tag)) tags.set(tag, []);
				tags.get(tag).push(entry(path, method, operation));
			}
		}
		for (const [tag, entries] of tags) {
			const list = h("ul", ...entries.map(({ node }) => node));
			this.#groups.push({ node: h("div", h("p.tag", tag), list), entries });
		}
		at("operations").replaceChildren(...this.#groups.map(({ node }) => node));
		at("operations").onclick = ({ target }) => open(target.closest("a")?.hash);
		at("find").disabled = false;
		at("find").oninput = () => this.#find(filter);
		this.#find(filter);
	}

	/** Open the operation that the address names, as soon as it is there. */
	openAddressed() {
		if (!location.hash) return;
		const observer = new MutationObserver(() => {
			if (open(location.hash)) observer.disconnect();
		});
		observer.observe(at("content"), { childList: true, subtree: true });
	}

	#find(filter) {
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
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => filter(text), DELAY_MS);
	}
}

function entry(path, method, operation) {
	const { operationId, summary } = operation;
	const kind = h("span.method", method.toUpperCase());
	const link = h("a", { href: `#${encodeURIComponent(operationId)}` }, kind, " ", summary || path);
	return { node: h("li", link), text: textOf(path, operation) };
}

/** Unfold an operation, and show it; whether it is there. */
function open(hash) {
	const blocks = [...document.querySelectorAll(".operation")];
	const block = blocks.find(({ id }) => `#${encodeURIComponent(id)}` === hash);
	if (!block) return false;
	block.querySelector(".opblock-summary-control[aria-expanded=false]")?.click();
	block.scrollIntoView({ block: "start" });
	return true;
}
