import { amount, count, distance, moment } from "../data/format.js";
import { bar, table } from "../data/table.js";
import { h } from "../playground/dom.js";
import { empty, section } from "./parts.js";

/* Limits near their end, tokens and teams, the config in use. */

const NEAR = 0.8;
const SOON_SECONDS = 14 * 86_400;

export function limits({ limits: rows, problems: unread }) {
	const none = unread?.length
		? "What is used cannot be read now."
		: "Nothing is used of any limit.";
	if (!rows?.length) return section("Limits", empty(none));
	const part = ({ used, amount: whole }) => (Number(whole) ? Number(used) / Number(whole) : 1);
	const text = (value) => (typeof value === "string" ? amount(value) : count(value));
	const columns = [
		["Of", (row) => holder(row.by)],
		["Limit", (row) => `${text(row.amount)} ${row.unit}${row.window ? ` per ${row.window}` : ""}`],
		["Used", (row) => used(part(row))],
		["Left", (row) => text(row.left), true],
		["Free again", (row) => (row.resets_at ? distance(row.resets_at) : "")],
	];
	return section("Limits, the most used first", table("Limits", columns, rows));
}

function used(part) {
	const kind = part >= 1 ? "div.over" : part >= NEAR ? "div.near" : "div";
	return h(kind, `${Math.round(part * 100)}%`, bar(part));
}

const holder = (by) =>
	Object.entries(by)
		.map(([kind, name]) => `${kind} ${name ?? "without a name"}`)
		.join(", ") || "all callers together";

export function tokens({ tokens: all, teams, time }) {
	if (!all) return [];
	const expiry = ({ expires }) => {
		const kind = expires < time ? "span.bad" : expires < time + SOON_SECONDS ? "span.warn" : "span";
		const text = expires < time ? "has expired" : "expires";
		return h(kind, `${text} ${distance(expires * 1000, time * 1000)}`);
	};
	const columns = [
		["Token", ({ name }) => name],
		["Team", ({ team }) => team ?? "–"],
		["Expiry", expiry],
		["When", ({ expires }) => moment(expires * 1000)],
		["In", (row) => row.in],
	];
	const sums = `In the config: ${count(all.config)}, in the database: ${count(all.database)}.`;
	const list = all.expiring.length
		? table("Tokens that expire", columns, all.expiring)
		: empty("No token expires.");
	const nodes = [section("Tokens", h("p.muted", sums), list)];
	const teamColumns = [
		["Team", ({ name }) => name],
		["In", (row) => row.in ?? "–"],
		["Tokens", (row) => count(row.tokens), true],
	];
	if (teams.length) nodes.push(section("Teams", table("Teams", teamColumns, teams)));
	return nodes;
}

export function configuration({ config, stores, version }) {
	const rows = [
		["Version", version ?? "–"],
		["Config", config?.hash ?? "–"],
		["Read", config?.loaded ? moment(config.loaded * 1000) : "–"],
		["Last reload", config?.last_reload_error ?? "accepted"],
		...Object.entries(stores ?? {}).map(([name, text]) => [`Store ${name}`, text]),
	];
	const columns = [
		["What", ([name]) => name],
		["State", ([, text]) => text],
	];
	return section("Config and stores", table("Config and stores", columns, rows));
}
