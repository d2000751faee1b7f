import { h } from "../playground/dom.js";

/* Tables, and bars beside their numbers. */

/**
 * A table with a name: `columns` are `[title, cell, isNumber]`, where `cell` makes the text or node
 * of a row; the first one is the head of the row.
 */
export function table(label, columns, rows) {
	const kind = (name, isNumber) => (isNumber ? `${name}.number` : name);
	const heads = columns.map(([title, , isNumber]) =>
		h(kind("th", isNumber), { scope: "col" }, title),
	);
	const body = rows.map((row) =>
		h(
			"tr",
			...columns.map(([, cell, isNumber], at) =>
				at === 0 ? h("th", { scope: "row" }, cell(row)) : h(kind("td", isNumber), cell(row)),
			),
		),
	);
	const node = h("table", h("thead", h("tr", ...heads)), h("tbody", ...body));
	return h("div.scroll", { tabIndex: 0, role: "region", ariaLabel: label }, node);
}

/** A bar whose filled part is a share from 0 to 1; the text beside it says the same. */
export function bar(share) {
	const fill = h("div.bar-fill");
	fill.style.width = `${Math.min(Math.max(share, 0), 1) * 100}%`;
	return h("div.bar-track", { ariaHidden: "true" }, fill);
}

/** Tiles of `[name, value, note]`. */
export const tiles = (rows) =>
	h(
		"dl.cards.tiles",
		...rows.map(([name, value, note]) =>
			h("div", h("dt", name), h("dd", value, note ? h("small", note) : null)),
		),
	);
