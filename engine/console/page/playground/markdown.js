import { copy, h } from "./dom.js";
import { inline } from "./inline.js";

/* A safe subset of Markdown as DOM nodes: no HTML of a model's is ever read as HTML. */

const DEEPEST = 6;
const LONGEST = 20_000; // a longer paragraph is shown as it is
const FENCE = /^ {0,3}(`{3,}|~{3,}) *([^`\s]{0,40})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6}) +(.*)$/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)]) +(.*)$/;

/** Shows a text that grows: only its last block is made again, all before it stays. */
export class Markdown {
	#root;
	#from = 0;
	#open = [];

	constructor(root) {
		this.#root = root;
	}

	show(text) {
		const lines = text.slice(this.#from).split("\n");
		const blocks = split(lines);
		const last = blocks.at(-1);
		if (!last) return;
		if (blocks.length === 1 && this.#extend(last)) return;
		for (const node of this.#open) node.remove();
		for (const block of blocks) {
			this.#open = [render(block, 0)];
			this.#root.append(...this.#open);
		}
		for (let i = 0; i < last.start; i++) this.#from += lines[i].length + 1;
	}

	/** A code block that goes on gets the new text alone. */
	#extend(block) {
		const [shown] = this.#open;
		if (block.kind !== "code" || shown?.dataset.fence !== block.mark) return false;
		const code = shown.querySelector("code");
		const text = block.lines.join("\n");
		if (!code.firstChild || !text.startsWith(code.textContent)) return false;
		code.firstChild.appendData(text.slice(code.textContent.length));
		return true;
	}
}

/** Lines as blocks, each with the number of its first line. */
function split(lines) {
	const blocks = [];
	for (let i = 0; i < lines.length;) {
		if (!lines[i].trim()) {
			i++;
			continue;
		}
		const block = { ...next(lines, i), start: i };
		blocks.push(block);
		i = block.end;
	}
	return blocks;
}

function next(lines, i) {
	const line = lines[i];
	const fence = FENCE.exec(line);
	if (fence) return fenced(lines, i, fence);
	const heading = HEADING.exec(line);
	if (heading) return { kind: "heading", level: heading[1].length, text: heading[2], end: i + 1 };
	if (RULE.test(line)) return { kind: "rule", end: i + 1 };
	if (/^ {0,3}>/.test(line)) return quoted(lines, i);
	if (isTable(lines, i)) return table(lines, i);
	if (ITEM.test(line)) return list(lines, i);
	return paragraph(lines, i);
}

function fenced(lines, i, [, mark, language]) {
	const closes = (line) => {
		const bare = line.trim();
		return bare.length >= mark.length && bare === mark[0].repeat(bare.length);
	};
	let end = i + 1;
	while (end < lines.length && !closes(lines[end])) end++;
	return {
		kind: "code",
		mark: mark + language,
		language,
		lines: lines.slice(i + 1, end),
		end: end + 1,
	};
}

function quoted(lines, i) {
	let end = i;
	while (end < lines.length && /^ {0,3}>/.test(lines[end])) end++;
	const inner = lines.slice(i, end).map((line) => line.replace(/^ {0,3}> ?/, ""));
	return { kind: "quote", lines: inner, end };
}

const cells = (line) =>
	line
		.trim()
		.replace(/^\||\|$/g, "")
		.split("|")
		.slice(0, 100);

function isTable(lines, i) {
	if (!lines[i].includes("|") || lines[i + 1] === undefined || !lines[i + 1].includes("-"))
		return false;
	return cells(lines[i + 1]).every((cell) => /^:?-+:?$/.test(cell.trim()));
}

function table(lines, i) {
	let end = i + 2;
	while (end < lines.length && lines[end].includes("|")) end++;
	const sides = cells(lines[i + 1])
		.map((cell) => cell.trim())
		.map((cell) => /^-+:$/.test(cell));
	return {
		kind: "table",
		head: cells(lines[i]),
		rows: lines.slice(i + 2, end).map(cells),
		sides,
		end,
	};
}

function list(lines, i) {
	const first = ITEM.exec(lines[i]);
	const numbered = /\d/.test(first[2]);
	const items = [];
	let end = i;
	for (; end < lines.length; end++) {
		const line = lines[end];
		const item = ITEM.exec(line);
		const indent = /^ */.exec(line)[0].length;
		if (item && indent <= first[1].length + 1 && /\d/.test(item[2]) === numbered) {
			items.push({ width: line.length - item[3].length, lines: [item[3]] });
		} else if (!line.trim()) {
			const after = lines.slice(end + 1).find((one) => one.trim());
			if (after === undefined || (!/^ {2,}/.test(after) && !ITEM.test(after))) break;
			items.at(-1).lines.push("");
		} else if (indent > first[1].length || !starts(lines, end)) {
			const width = Math.min(items.at(-1).width, indent);
			items.at(-1).lines.push(line.slice(width));
		} else break;
	}
	const number = parseInt(first[2], 10);
	return { kind: "list", numbered, number, items: items.map((one) => one.lines), end };
}

const starts = (lines, i) =>
	[FENCE, HEADING, RULE, ITEM, /^ {0,3}>/].some((kind) => kind.test(lines[i]));

function paragraph(lines, i) {
	let end = i + 1;
	while (end < lines.length && lines[end].trim() && !starts(lines, end) && !isTable(lines, end))
		end++;
	return { kind: "text", text: lines.slice(i, end).join("\n"), end };
}

const words = (made, text) => {
	if (text.length > LONGEST) made.append(text);
	else inline(text, made);
	return made;
};

function below(made, lines, depth) {
	if (depth >= DEEPEST) made.append(lines.join("\n"));
	else made.append(...split(lines).map((block) => render(block, depth + 1)));
	return made;
}

const RENDER = {
	heading: (block) => words(h(`h${Math.min(block.level + 1, 6)}`), block.text),
	rule: () => h("hr"),
	text: (block) => words(h("p"), block.text),
	quote: (block, depth) => below(h("blockquote"), block.lines, depth),
	code: (block) => codeBlock(block.lines.join("\n"), block.language, block.mark),
	list: (block, depth) => {
		const made = h(block.numbered ? "ol" : "ul");
		if (block.numbered && block.number !== 1) made.start = block.number;
		made.append(...block.items.map((lines) => below(h("li"), lines, depth)));
		return made;
	},
	table: (block) => {
		const row = (kind, line) =>
			h(
				"tr",
				{},
				...block.head.map((_, i) =>
					words(h(kind, { className: block.sides[i] ? "number" : "" }), (line[i] ?? "").trim()),
				),
			);
		const body = h("tbody", {}, ...block.rows.map((line) => row("td", line)));
		const made = h("table", {}, h("thead", {}, row("th", block.head)), body);
		return h(
			"div",
			{ className: "scroll", tabIndex: 0, role: "region", "aria-label": "Table" },
			made,
		);
	},
};

const render = (block, depth) => RENDER[block.kind](block, depth);

/** Code with a button that copies it. */
export function codeBlock(text, language = "", mark = "") {
	const code = h("code", {}, document.createTextNode(text));
	const button = h(
		"button",
		{ type: "button", className: "quiet small", onclick: () => copy(code.textContent, button) },
		"Copy",
	);
	const head = h("div", { className: "code-head" }, h("span", {}, language || "text"), button);
	const pre = h(
		"pre",
		{ tabIndex: 0, role: "region", "aria-label": `Code, ${language || "text"}` },
		code,
	);
	const made = h("div", { className: "code" }, head, pre);
	made.dataset.fence = mark;
	return made;
}
