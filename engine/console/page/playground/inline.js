import { h } from "./dom.js";

/* Marks within a line. Each closes within 2000 characters, so that parsing stays linear. */

const MAX_DEPTH = 6;

const MARKS = [
	/\\\((?<round>.{1,2000}?)\\\)|\\\[(?<square>.{1,2000}?)\\\]/,
	/(?<!\\)\$\$(?<double>[^$]{1,2000})\$\$|(?<![\\$\w])\$(?<dollar>(?=[^\s$])[^$\n]{0,500}[^\s$\\])\$(?![\w$])/,
	/\\(?<plain>[\\`*_{}[\]()#+\-.!~>|<$])/,
	/(?<!`)(?<ticks>`+)(?!`)(?<code>.{1,2000}?)(?<!`)\k<ticks>(?!`)/,
	/!?\[(?<label>[^[\]]{0,2000})\]\(\s*<?(?<target>https?:(?:[^\s()<>]|\([^\s()<>]*\))+)[^()\n]{0,2000}\)/,
	/(?<sign>\*{1,3}(?!\*)|(?<!\w)_{1,3}(?!_)|~~(?!~))(?=\S)(?<inner>.{1,2000}?)(?<=[^\s*_~])\k<sign>(?![*_~])(?<!_(?=\w))/,
	/<(?<angled>https?:[^\s<>]+)>/,
	/(?<!\w)(?<bare>https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]*_~])/,
];
const MARK = new RegExp(MARKS.map(({ source }) => source).join("|"), "gs");

/** Append a line of Markdown as text nodes and a few safe elements. */
export function inline(text, parent, depth = 0) {
	let end = 0;
	for (const match of depth > MAX_DEPTH ? [] : text.matchAll(MARK)) {
		parent.append(text.slice(end, match.index), element(match, parent, depth + 1));
		end = match.index + match[0].length;
	}
	parent.append(text.slice(end));
}

function element({ 0: all, groups }, parent, depth) {
	const { plain, code, sign, inner, label, target, angled, bare } = groups;
	const { round, square, double, dollar } = groups;
	if (square ?? double) return math(all, square ?? double, true);
	if (round ?? dollar) return math(all, round ?? dollar, false);
	if (plain) return plain;
	if (code) return h("code", code.trim());
	if (sign) {
		const node = h(sign === "~~" ? "del" : sign.length === 1 ? "em" : "strong");
		inline(inner, sign.length === 3 ? node.appendChild(h("em")) : node, depth);
		return node;
	}
	// An image becomes a link: fetching it would reveal the reader's address.
	const address = target ?? angled ?? bare;
	if (parent.closest("a") || !URL.canParse(address)) return all;
	const { href } = new URL(address);
	const node = h("a", { href, target: "_blank", rel: "noopener noreferrer" });
	inline(label || address, node, depth);
	return node;
}

/** A formula as its source, until `markdown.js` replaces it. */
export function math(source, tex, isDisplay) {
	const node = h("span.tex", source);
	node.dataset.tex = tex;
	if (isDisplay) node.dataset.display = "";
	return node;
}
