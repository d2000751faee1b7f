import { copyButton, h } from "./dom.js";
import { inline, math } from "./inline.js";

/* A safe subset of Markdown as DOM nodes: a model's HTML stays text. */

const MAX_DEPTH = 6;
const MAX_PARAGRAPH = 20_000; // characters; longer ones are not parsed
const MAX_CELLS = 100; // in a row

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([^`\s]{0,40})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6}) +(.*)$/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const QUOTE = /^ {0,3}> ?/;
const FORMULA = /^ {0,3}(\$\$|\\\[)/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)]) +(.*)$/;

/** Shows growing text: only its last block is rendered again. */
export class Markdown {
	#root;
	#start = 0;
	#last = null;

	constructor(root) {
		this.#root = root;
	}

	show(text) {
		const lines = text.slice(this.#start).split("\n");
		const nodes = blocks(lines, 0);
		const last = nodes.at(-1);
		if (!last || (nodes.length === 1 && this.#extend(last.node))) return;
		this.#last?.remove();
		this.#root.append(...nodes.map(({ node }) => node));
		for (const { node } of nodes.slice(0, -1)) finish(node);
		this.#last = last.node;
		for (const line of lines.slice(0, last.start)) this.#start += line.length + 1;
	}

	/** The text is complete. */
	end() {
		if (this.#last) finish(this.#last);
		this.#last = null;
	}

	/** Append new text to a code block that continues. */
	#extend({ dataset, textContent }) {
		const block = this.#last;
		if (!dataset.fence || block?.dataset.fence !== dataset.fence) return false;
		if (!textContent.startsWith(block.textContent)) return false;
		block.querySelector("code").firstChild.appendData(textContent.slice(block.textContent.length));
		return true;
	}
}

/** Highlight the code and set the formulas of a block that does not grow any more. */
export async function finish(block) {
	const codes = [...block.querySelectorAll("code[data-language]")];
	const formulas = [...block.querySelectorAll("[data-tex]")];
	if (block.dataset.tex) formulas.push(block);
	if (codes.length) {
		const { highlight } = await import("./highlight.js"); // loaded at first use
		for (const code of codes) highlight(code, code.dataset.language);
	}
	if (formulas.length) {
		const { formula } = await import("./formula.js");
		for (const node of formulas) {
			const { tex, display } = node.dataset;
			const set = formula(tex, display !== undefined);
			if (set) node.replaceChildren(set);
		}
	}
}

/** Lines as blocks, `{node, start}`, each with the number of its first line. */
function blocks(lines, depth) {
	const result = [];
	for (let i = 0; i < lines.length;) {
		if (!lines[i].trim()) {
			i++;
			continue;
		}
		const { node, end } = block(lines, i, depth);
		result.push({ node, start: i });
		i = end;
	}
	return result;
}

/** The block that begins at a line, and where it ends. */
function block(lines, i, depth) {
	const line = lines[i];
	const fence = FENCE.exec(line);
	if (fence) return fenced(lines, i, fence);
	const heading = HEADING.exec(line);
	if (heading) {
		const level = Math.min(heading[1].length + 1, 6);
		return { node: textBlock(`h${level}`, heading[2]), end: i + 1 };
	}
	if (RULE.test(line)) return { node: h("hr"), end: i + 1 };
	if (QUOTE.test(line)) return quoted(lines, i, depth);
	if (isTable(lines, i)) return table(lines, i);
	if (FORMULA.test(line)) return displayed(lines, i);
	if (ITEM.test(line)) return list(lines, i, depth);
	return paragraph(lines, i);
}

/** The first line from `i` that satisfies `ends`, or the end. */
function until(lines, i, ends) {
	while (i < lines.length && !ends(lines[i], i)) i++;
	return i;
}

function textBlock(kind, text) {
	const node = h(kind);
	if (text.length > MAX_PARAGRAPH) node.append(text);
	else inline(text, node);
	return node;
}

function nested(kind, lines, depth) {
	if (depth >= MAX_DEPTH) return h(kind, lines.join("\n"));
	return h(kind, ...blocks(lines, depth + 1).map(({ node }) => node));
}

function fenced(lines, i, [, mark, language]) {
	const closing = new RegExp(`^\\s*${mark}+\\s*$`); // the same length, or more
	const end = until(lines, i + 1, (line) => closing.test(line));
	const node = codeBlock(lines.slice(i + 1, end).join("\n"), language);
	node.dataset.fence = mark + language;
	return { node, end: end + 1 };
}

/** A displayed formula; without its end before the next empty line it is text. */
function displayed(lines, i) {
	const mark = FORMULA.exec(lines[i])[1] === "$$" ? "$$" : "\\]";
	const isEnd = (line, at) =>
		line.trimEnd().endsWith(mark) && (at > i || line.trim().length > 2 * mark.length);
	const end = until(lines, i, (line, at) => !line.trim() || isEnd(line, at));
	const source = lines.slice(i, end + 1).join("\n");
	if (end === lines.length || !lines[end].trim()) return { node: textBlock("p", source), end };
	const tex = source.trim().slice(2, -2);
	const node = scrolling("div.scroll", "Formula", math(source, tex, true));
	return { node, end: end + 1 };
}

function quoted(lines, i, depth) {
	const end = until(lines, i, (line) => !QUOTE.test(line));
	const inner = lines.slice(i, end).map((line) => line.replace(QUOTE, ""));
	return { node: nested("blockquote", inner, depth), end };
}

const cells = (line) =>
	line
		.trim()
		.replace(/^\||\|$/g, "")
		.split("|", MAX_CELLS)
		.map((cell) => cell.trim());

const isTable = (lines, i) =>
	lines[i].includes("|") &&
	lines[i + 1]?.includes("-") &&
	cells(lines[i + 1]).every((cell) => /^:?-+:?$/.test(cell));

function table(lines, i) {
	const end = until(lines, i + 2, (line) => !line.includes("|"));
	const isNumber = cells(lines[i + 1]).map((side) => /^-+:$/.test(side));
	const head = cells(lines[i]);
	const row = (kind, line) =>
		h("tr", ...head.map((_, n) => textBlock(isNumber[n] ? `${kind}.number` : kind, line[n] ?? "")));
	const rows = lines.slice(i + 2, end).map((line) => row("td", cells(line)));
	const node = h("table", h("thead", row("th", head)), h("tbody", ...rows));
	return { node: scrolling("div.scroll", "Table", node), end };
}

function list(lines, i, depth) {
	const [, pad, sign] = ITEM.exec(lines[i]);
	const isNumbered = (mark) => /\d/.test(mark);
	const items = [];
	let width = 0; // of the mark before an item's text
	const end = until(lines, i, (line, at) => {
		const item = ITEM.exec(line);
		const indent = line.search(/[^ ]|$/);
		if (item && indent <= pad.length + 1 && isNumbered(item[2]) === isNumbered(sign)) {
			width = line.length - item[3].length;
			items.push([item[3]]);
		} else if (!line.trim()) {
			const next = lines.slice(at + 1).find((rest) => rest.trim());
			if (next === undefined || (!/^ {2,}/.test(next) && !ITEM.test(next))) return true;
			items.at(-1).push("");
		} else if (indent > pad.length || !startsBlock(line)) {
			items.at(-1).push(line.slice(Math.min(width, indent)));
		} else return true;
		return false;
	});
	const node = h(isNumbered(sign) ? "ol" : "ul", ...items.map((item) => nested("li", item, depth)));
	if (node.start) node.start = parseInt(sign, 10);
	return { node, end };
}

const startsBlock = (line) =>
	[FENCE, HEADING, RULE, ITEM, QUOTE, FORMULA].some((kind) => kind.test(line));

function paragraph(lines, i) {
	const end = until(
		lines,
		i + 1,
		(line, at) => !line.trim() || startsBlock(line) || isTable(lines, at),
	);
	return { node: textBlock("p", lines.slice(i, end).join("\n")), end };
}

/** A box for wide content, which the keyboard scrolls too. */
const scrolling = (kind, ariaLabel, inner) =>
	h(kind, { tabIndex: 0, role: "group", ariaLabel }, inner);

/** Code with a copy button. */
export function codeBlock(text, language = "") {
	const code = h("code");
	code.append(document.createTextNode(text)); // even if empty: #extend appends to it
	if (language) code.dataset.language = language;
	const copy = copyButton("Copy the code", () => code.textContent);
	const head = h("div.code-head.row", h("span", language || "text"), copy);
	return h("div.code", head, scrolling("pre", `Code, ${language || "text"}`, code));
}
