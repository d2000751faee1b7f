import { cost, count, moment, seconds } from "../data/format.js";
import { table } from "../data/table.js";
import { h } from "../playground/dom.js";

/* The last requests, without texts: the ledger has none. */

const OUTCOMES = { complete: "", caller_left: "the caller left" };

export const requestTable = (rows) => table("Requests, the last one first", COLUMNS, rows);

const COLUMNS = [
	["Time", ({ time }) => h("time", { dateTime: time }, moment(time))],
	["Model", ({ model, operation }) => model || operation],
	["Status", status],
	["Took", ({ seconds: taken }) => seconds(taken), true],
	["Tokens in", (row) => count(row.input_tokens), true],
	["Tokens out", (row) => count(row.output_tokens), true],
	["Money", (row) => cost(row.cost), true],
	[
		"Tags",
		({ tags }) =>
			Object.entries(tags)
				.map((tag) => tag.join(": "))
				.join(", "),
	],
	["Id", ({ id }) => h("code", id)],
];

function status({ status, outcome }) {
	const failed = status >= 400 || (outcome !== "complete" && outcome !== "caller_left");
	const text = [status, OUTCOMES[outcome] ?? outcome.replaceAll("_", " ")]
		.filter(Boolean)
		.join(", ");
	return h(failed ? "span.bad" : "span", text);
}
