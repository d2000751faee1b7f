import { bars } from "../data/chart.js";
import { cost, count, day, short } from "../data/format.js";
import { bar, table, tiles } from "../data/table.js";
import { h } from "../playground/dom.js";

/* The sums of the ledger as tiles, a chart by day and tables by model and tag. */

const DAY = 86_400_000;
const sum = (rows, value) => rows.reduce((total, row) => total + value(row), 0);
const tokens = (row) => row.input_tokens + row.output_tokens;
const money = (currency) => (row) => Number(row.cost[currency] ?? 0);

/** The measures of a chart: the number of a row, and its text. */
const measures = (currency) => ({
	cost: { title: "Money", value: money(currency), text: (row) => cost(row.cost) },
	requests: {
		title: "Requests",
		value: (row) => row.requests,
		text: ({ requests }) => count(requests),
	},
	tokens: { title: "Tokens", value: tokens, text: (row) => count(tokens(row)) },
});

/** What all days together had. */
export function totals(days, currency) {
	const requests = sum(days, (row) => row.requests);
	const failed = sum(days, (row) => row.failed);
	const input = sum(days, (row) => row.input_tokens);
	const cached = sum(days, (row) => row.cached_tokens);
	const currencies = [...new Set([currency, ...days.flatMap((row) => Object.keys(row.cost))])];
	const costs = currencies
		.map((name) => [name, sum(days, money(name))])
		.filter(([, value]) => value);
	return tiles([
		["Money", cost(Object.fromEntries(costs)), ""],
		["Requests", count(requests), failed ? `${count(failed)} failed` : "none failed"],
		["Tokens in", short(input), input ? `${Math.round((cached / input) * 100)}% cached` : ""],
		["Tokens out", short(sum(days, (row) => row.output_tokens)), ""],
	]);
}

/** Every day from the first to the last, also those without requests. */
export function everyDay({ from, to, days }) {
	const nothing = {
		requests: 0,
		failed: 0,
		input_tokens: 0,
		output_tokens: 0,
		cached_tokens: 0,
		cost: {},
	};
	const rows = new Map(days.map((row) => [row.day, row]));
	const all = [];
	for (let time = Date.parse(from); time <= Date.parse(to); time += DAY) {
		const name = new Date(time).toISOString().slice(0, 10);
		all.push(rows.get(name) ?? { day: name, ...nothing });
	}
	return all;
}

/** The chart by day, with its table. */
export function byDay(usage, measure, currency) {
	const { title, value, text } = measures(currency)[measure];
	const rows = everyDay(usage);
	const chart = bars(
		`${title} by day`,
		rows.map((row) => ({ name: day(row.day), value: value(row), text: text(row) })),
	);
	const used = rows.filter((row) => row.requests).toReversed();
	const columns = [["Day (UTC)", (row) => row.day], ...NUMBERS];
	return [chart, h("details", h("summary", "The days as a table"), table("Days", columns, used))];
}

const NUMBERS = [
	["Requests", (row) => count(row.requests), true],
	["Failed", (row) => count(row.failed), true],
	["Tokens in", (row) => count(row.input_tokens), true],
	["Tokens out", (row) => count(row.output_tokens), true],
	["Money", (row) => cost(row.cost), true],
];

/** A table by model or by a tag, the largest of the measure first, with a bar for each. */
export function byName(title, key, rows, measure, currency) {
	const { value } = measures(currency)[measure];
	const sorted = rows.toSorted((one, other) => value(other) - value(one));
	const most = Math.max(...sorted.map(value), 0);
	const name = (row) => h("div", row[key], bar(most ? value(row) / most : 0));
	return table(title, [[title, name], ...NUMBERS], sorted);
}
