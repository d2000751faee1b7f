import { copying, h } from "./dom.js";
import { inline } from "./inline.js";

/* A safe subset of Markdown as DOM nodes: no HTML of a model's is ever read as HTML. */

const DEEPEST = 6;
const LONGEST = 20_000; // a longer paragraph is shown as it is
const MOST_CELLS = 100; // in a row

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([^`\s]{0,40})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6}) +(.*)$/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)]) +(.*)$/;

/** Shows a text that grows: only its last block is made again, all before it stays. */
export class Markdown {
	#root;
	#from = 0;
	#last = null;

	constructor(root) {
		this.#root = root;
	}

	show(text) {
		const lines = text.slice(this.#from).split("\n");
		const made = blocks(lines, 0);
		const last = made.at(-1);
		if (!last || (made.length === 1 && this.#extend(last.node))) return;
		this.#last?.remove();
		this.#root.append(...made.map(({ node }) => node));
		this.#last = last.node;
		for (const line of lines.slice(0, last.start)) this.#from += line.length + 1;
	}

	/** A code block that goes on gets the new text alone. */
	#extend({ dataset, textContent }) {
		const shown = this.#last;
		if (!dataset.fence || shown?.dataset.fence !== dataset.fence) return false;
		if (!textContent.startsWith(shown.textContent)) return false;
		shown.querySelector("code").firstChild.appendData(textContent.slice(shown.textContent.length));
		return true;
	}
}

/** Lines as blocks, `{node, start}`, each with the number of its first line. */
function blocks(lines, depth) {
	const made = [];
	for (let i = 0; i < lines.length;) {
		if (!lines[i].trim()) {
			i++;
			continue;
		}
		const { node, end } = block(lines, i, depth);
		made.push({ node, start: i });
		i = end;
	}
	return made;
}

/** The block that begins at a line, and where it ends. */
function block(lines, i, depth) {
	const line = lines[i];
	const fence = FENCE.exec(line);
	if (fence) return fenced(lines, i, fence);
	const heading = HEADING.exec(line);
	if (heading) {
		const level = Math.min(heading[1].length + 1, 6);
		return { node: words(`h${level}`, heading[2]), end: i + 1 };
	}
	if (RULE.test(line)) return { node: h("hr"), end: i + 1 };
	if (QUOTE.test(line)) return quoted(lines, i, depth);
	if (isTable(lines, i)) return table(lines, i);
	if (ITEM.test(line)) return list(lines, i, depth);
	return paragraph(lines, i);
}

/** The first line from `i` on of which this is true, or the end. */
function until(lines, i, ends) {
	while (i < lines.length && !ends(lines[i], i)) i++;
	return i;
}

function words(kind, text) {
	const made = h(kind);
	if (text.length > LONGEST) made.append(text);
	else inline(text, made);
	return made;
}

function below(kind, lines, depth) {
	if (depth >= DEEPEST) return h(kind, lines.join("\n"));
	return h(kind, ...blocks(lines, depth + 1).map(({ node }) => node));
}

function fenced(lines, i, [, mark, language]) {
	const closing = new RegExp(`^\\s*${mark}+\\s*$`); // as many signs, or more
	const end = until(lines, i + 1, (line) => closing.test(line));
	const node = codeBlock(lines.slice(i + 1, end).join("\n"), language);
	node.dataset.fence = mark + language;
	return { node, end: end + 1 };
}

function quoted(lines, i, depth) {
	const end = until(lines, i, (line) => !QUOTE.test(line));
	const inner = lines.slice(i, end).map((line) => line.replace(QUOTE, ""));
	return { node: below("blockquote", inner, depth), end };
}

const cells = (line) =>
	line
		.trim()
		.replace(/^\||\|$/g, "")
		.split("|", MOST_CELLS)
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
		h("tr", ...head.map((_, n) => words(isNumber[n] ? `${kind}.number` : kind, line[n] ?? "")));
	const rows = lines.slice(i + 2, end).map((line) => row("td", cells(line)));
	const node = h("table", h("thead", row("th", head)), h("tbody", ...rows));
	return { node: scrolling("div.scroll", "Table", node), end };
}

function list(lines, i, depth) {
	const [, pad, sign] = ITEM.exec(lines[i]);
	const isNumbered = (mark) => /\d/.test(mark);
	const items = [];
	let width = 0; // of what stands before an item's text
	const end = until(lines, i, (line, at) => {
		const item = ITEM.exec(line);
		const indent = line.search(/[^ ]|$/);
		if (item && indent <= pad.length + 1 && isNumbered(item[2]) === isNumbered(sign)) {
			width = line.length - item[3].length;
			items.push([item[3]]);
		} else if (!line.trim()) {
			const after = lines.slice(at + 1).find((one) => one.trim());
			if (after === undefined || (!/^ {2,}/.test(after) && !ITEM.test(after))) return true;
			items.at(-1).push("");
		} else if (indent > pad.length || !starts(line)) {
			items.at(-1).push(line.slice(Math.min(width, indent)));
		} else return true;
		return false;
	});
	const node = h(isNumbered(sign) ? "ol" : "ul", ...items.map((item) => below("li", item, depth)));
	if (node.start) node.start = parseInt(sign, 10);
	return { node, end };
}

const starts = (line) => [FENCE, HEADING, RULE, ITEM, QUOTE].some((kind) => kind.test(line));

function paragraph(lines, i) {
	const end = until(lines, i + 1, (line, at) => !line.trim() || starts(line) || isTable(lines, at));
	return { node: words("p", lines.slice(i, end).join("\n")), end };
}

/** What may be wider than the page, and is scrolled by keyboard too. */
const scrolling = (kind, ariaLabel, inner) =>
	h(kind, { tabIndex: 0, role: "region", ariaLabel }, inner);

/** Code with a button that copies it. */
export function codeBlock(text, language = "") {
	const code = h("code");
	code.append(document.createTextNode(text)); // also an empty one, which may grow
	const copy = copying("Copy the code", () => code.textContent);
	const head = h("div.code-head.row", h("span", language || "text"), copy);
	return h("div.code", head, scrolling("pre", `Code, ${language || "text"}`, code));
}
