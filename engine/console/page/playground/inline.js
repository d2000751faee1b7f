import { h } from "./dom.js";

/* Marks within a line. Each must close within 2000 characters, which keeps hostile text linear. */

const DEEPEST = 6;

const MARKS = [
	/\\(?<plain>[\\`*_{}[\]()#+\-.!~>|<])/,
	/(?<!`)(?<ticks>`+)(?!`)(?<code>.{1,2000}?)(?<!`)\k<ticks>(?!`)/,
	/!?\[(?<label>[^[\]]{0,2000})\]\(\s*<?(?<target>https?:(?:[^\s()<>]|\([^\s()<>]*\))+)[^()\n]{0,2000}\)/,
	/(?<sign>\*{1,3}(?!\*)|(?<!\w)_{1,3}(?!_)|~~(?!~))(?=\S)(?<inner>.{1,2000}?)(?<=[^\s*_~])\k<sign>(?![*_~])(?<!_(?=\w))/,
	/<(?<angled>https?:[^\s<>]+)>/,
	/(?<!\w)(?<bare>https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]*_~])/,
];
const MARK = new RegExp(MARKS.map(({ source }) => source).join("|"), "gs");

/** Append a line of Markdown as text nodes and a few safe elements. */
export function inline(text, into, depth = 0) {
	let end = 0;
	for (const match of depth > DEEPEST ? [] : text.matchAll(MARK)) {
		into.append(text.slice(end, match.index), made(match, into, depth + 1));
		end = match.index + match[0].length;
	}
	into.append(text.slice(end));
}

function made({ 0: all, groups }, into, depth) {
	const { plain, code, sign, inner, label, target, angled, bare } = groups;
	if (plain) return plain;
	if (code) return h("code", code.trim());
	if (sign) {
		const node = h(sign === "~~" ? "del" : sign.length === 1 ? "em" : "strong");
		inline(inner, sign.length === 3 ? node.appendChild(h("em")) : node, depth);
		return node;
	}
	// A picture from elsewhere is never fetched, as that would tell who reads: it becomes a link.
	const address = target ?? angled ?? bare;
	if (into.closest("a") || !URL.canParse(address)) return all;
	const { href } = new URL(address);
	const node = h("a", { href, target: "_blank", rel: "noopener noreferrer" });
	inline(label || address, node, depth);
	return node;
}
