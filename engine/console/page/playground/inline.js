import { h } from "./dom.js";

const NEAR = 2000; // characters within which a mark must close: keeps hostile text linear
const DEEPEST = 6;
const ESCAPED = "\\`*_{}[]()#+-.!~>|<";

/** Append a line of Markdown as text nodes and a few safe elements. */
export function inline(text, into, depth = 0) {
	let plain = 0;
	let i = 0;
	const flush = (end) => end > plain && into.append(text.slice(plain, end));
	while (i < text.length) {
		if (text[i] === "\\" && ESCAPED.includes(text[i + 1] ?? " ")) {
			flush(i);
			plain = i + 1;
			i += 2;
			continue;
		}
		const found = READERS[text[i]]?.(text, i, depth);
		if (found?.node) {
			flush(i);
			into.append(found.node);
			plain = i = found.end;
		} else i = found?.end ?? i + 1;
	}
	flush(text.length);
}

const run = (text, i) => {
	let end = i + 1;
	while (text[end] === text[i]) end++;
	return end - i;
};

function code(text, i) {
	const length = run(text, i);
	const mark = "`".repeat(length);
	const inner = text.slice(i + length, i + length + NEAR);
	const end = inner.indexOf(mark);
	if (end < 0) return { end: i + length };
	return { node: h("code", {}, inner.slice(0, end).trim()), end: i + 2 * length + end };
}

function emphasis(text, i, depth) {
	const sign = text[i];
	const length = run(text, i);
	const failed = { end: i + length };
	if (depth >= DEEPEST || length > 3 || (sign === "~" && length !== 2)) return failed;
	if (sign === "_" && /\w/.test(text[i - 1] ?? " ")) return failed;
	const inner = text.slice(i + length, i + length + NEAR);
	if (/^\s/.test(inner)) return failed;
	const end = inner.indexOf(sign.repeat(length), 1);
	if (end < 0 || /\s/.test(inner[end - 1])) return failed;
	if (sign === "_" && /\w/.test(inner[end + length] ?? " ")) return failed;
	const outer = h(sign === "~" ? "del" : length === 1 ? "em" : "strong");
	const node = length === 3 ? outer.appendChild(h("em")) : outer;
	inline(inner.slice(0, end), node, depth + 1);
	return { node: outer, end: i + 2 * length + end };
}

/** A link, to the web alone: whatever else an address says, it stays text. */
export function link(address, label) {
	let url;
	try {
		url = new URL(address);
	} catch {
		return null; // no address at all
	}
	if (url.protocol !== "https:" && url.protocol !== "http:") return null;
	const made = h("a", {
		href: url.href,
		target: "_blank",
		rel: "noopener noreferrer",
		title: url.href,
	});
	made.append(label);
	return made;
}

function linked(text, i, depth) {
	const near = text.slice(i, i + NEAR);
	const middle = near.indexOf("](");
	if (middle < 0 || depth >= DEEPEST) return null;
	const end = closing(near, middle + 2);
	if (end < 0) return null;
	const address = near
		.slice(middle + 2, end)
		.trim()
		.split(/\s/)[0]
		.replace(/^<|>$/g, "");
	const label = document.createDocumentFragment();
	const node = link(address, label);
	if (!node) return null;
	const words = h("span");
	inline(near.slice(1, middle).replaceAll("[", "\\["), words, depth + 1);
	node.append(...words.childNodes);
	if (!node.textContent) node.append(address);
	return { node, end: i + end + 1 };
}

function closing(text, from) {
	let open = 1;
	for (let i = from; i < text.length && text[i] !== "\n"; i++) {
		if (text[i] === "(") open++;
		if (text[i] === ")" && --open === 0) return i;
	}
	return -1;
}

/** A picture from elsewhere is never fetched: it would tell who reads. It becomes a link. */
const picture = (text, i, depth) => {
	const found = text[i + 1] === "[" ? linked(text, i + 1, depth) : null;
	return found && { node: found.node, end: found.end };
};

function bare(text, i, depth) {
	if (depth > 0 || /\w/.test(text[i - 1] ?? " ")) return null;
	const match = /^https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]*_~]/.exec(text.slice(i, i + NEAR));
	const node = match && link(match[0], match[0]);
	return node && { node, end: i + match[0].length };
}

function angled(text, i) {
	const match = /^<(https?:\/\/[^\s<>]+)>/.exec(text.slice(i, i + NEAR));
	const node = match && link(match[1], match[1]);
	return node && { node, end: i + match[0].length };
}

const READERS = {
	"`": code,
	"*": emphasis,
	_: emphasis,
	"~": emphasis,
	"[": linked,
	"!": picture,
	h: bare,
	"<": angled,
};
