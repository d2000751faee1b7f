import { lines } from "../data/chart.js";
import { amount, count, moment, seconds, short } from "../data/format.js";
import { table, tiles } from "../data/table.js";
import { h } from "../playground/dom.js";
import { configuration, limits, tokens } from "./callers.js";
import { empty, section } from "./parts.js";

/* The sections of the page: traffic, errors, upstreams; callers have a module of their own. */

const rate = (value) => `${short(value)}/s`;
const share = (part, whole) => (whole ? `${((part / whole) * 100).toFixed(1)}%` : "0%");

/** The line of the head: the version, the config and the workers. */
export function state({ version, config, metrics, status }) {
	const parts = [
		status,
		version,
		config?.loaded ? `config of ${moment(config.loaded * 1000)}` : "",
	];
	if (metrics?.figures)
		parts.push(
			`${metrics.figures.workers} ${metrics.figures.workers === 1 ? "worker" : "workers"}`,
		);
	return parts.filter(Boolean).join(" · ");
}

/** What an operator should act on. */
export function problems({ config, stores, metrics, problems: unread = [] }) {
	const texts = [...unread, ...(metrics?.figures?.alerts ?? [])];
	const reload = config?.last_reload_error;
	if (reload)
		texts.unshift(`The last reload of the config was refused, the one before is in use: ${reload}`);
	for (const [name, error] of Object.entries(stores ?? {})) {
		if (error !== "ok") texts.push(`The store ${name} cannot be reached: ${error}`);
	}
	return texts.map((text) => h("p.alert", text));
}

/** All sections. */
export function sections(report, history) {
	const { metrics } = report;
	const callers = [limits(report), ...tokens(report), configuration(report)];
	if (!metrics) {
		const off =
			"The metrics are switched off (telemetry.metrics), so there are no figures of traffic.";
		return [section("Traffic", empty(off)), ...callers];
	}
	const { figures } = metrics;
	const traffic = figures
		? [overview(figures), charts(history)]
		: [h("p.wait", "Measuring: rates need two readings.")];
	return [
		section("Traffic", ...traffic),
		h("div.pair", failures(metrics), section("Queues", queues(metrics.queues))),
		section("Upstreams", upstreams(figures), targets(metrics.targets)),
		...(figures
			? [activities("Models", figures.models, true), activities("Operations", figures.operations)]
			: []),
		...callers,
	];
}

function overview(figures) {
	const cost = Object.entries(figures.cost).map(
		([currency, value]) => `${amount(value)} ${currency}`,
	);
	const [median, p95] = figures.duration;
	const [firstMedian, firstP95] = figures.first_byte;
	const sessions = figures.sessions ? `WebSockets: ${count(figures.sessions)}` : "";
	return tiles([
		["Requests", rate(figures.requests), `${count(figures.in_flight)} running`],
		["Failed", share(figures.failed, figures.requests), `${rate(figures.failed)}`],
		["Refused", share(figures.refusals, figures.requests), `${rate(figures.refusals)}`],
		[
			"Duration, median",
			seconds(median),
			`95%: ${seconds(p95)}, 99%: ${seconds(figures.duration_p99)}`,
		],
		[
			"First byte, median",
			seconds(firstMedian),
			`95%: ${seconds(firstP95)}, 99%: ${seconds(figures.first_byte_p99)}`,
		],
		["Tokens in", rate(figures.tokens_in), ""],
		["Tokens out", rate(figures.tokens_out), ""],
		["Money per hour", cost.join(" + ") || "0", sessions],
	]);
}

function charts(history) {
	const values = (name) => history.map((figures) => figures[name]);
	const errors = history.map(({ failed, refusals }) => failed + refusals);
	const start = `${Math.round(history.reduce((sum, one) => sum + one.seconds, 0))} s ago`;
	const requests = [
		{ name: "requests", values: values("requests"), kind: "" },
		{ name: "failed or refused", values: errors, kind: "failures" },
	];
	const tokens = history.map((figures) => figures.tokens_in + figures.tokens_out);
	const most = (all) => `most: ${rate(Math.max(...all, 0))}`;
	return h(
		"div.pair",
		lines(
			"Requests a second",
			requests,
			rate,
			start,
			`requests, and (red) failures; ${most(values("requests"))}`,
			"now",
		),
		lines(
			"Tokens a second",
			[{ name: "tokens", values: tokens, kind: "" }],
			rate,
			start,
			`tokens; ${most(tokens)}`,
			"now",
		),
	);
}

const KINDS = {
	request: "request ended",
	refusal: "refused here",
	attempt: "attempt at an upstream",
};

function failures({ failures: rows }) {
	const columns = [
		["What", ({ kind }) => kind.replaceAll("_", " ")],
		["Of", ({ of }) => KINDS[of]],
		["Now", (row) => rate(row.rate), true],
		["Since the start", ({ total }) => count(total), true],
	];
	return section(
		"Errors",
		rows.length ? table("Errors by kind", columns, rows) : empty("None since the start."),
	);
}

function queues(rows) {
	if (!rows.length) return empty("No upstream has a bound of requests (max_in_flight).");
	const columns = [
		["Upstream", ({ upstream, target }) => target || upstream],
		["Running", (row) => `${count(row.in_flight)} of ${count(row.bound)}`, true],
		["Waiting", ({ waiting }) => h(waiting ? "span.warn" : "span", count(waiting)), true],
	];
	return table("Queues of upstreams", columns, rows);
}

function upstreams(figures) {
	if (!figures?.upstreams.length) return empty("No upstream was asked since the start.");
	const columns = [
		["Upstream", ({ name }) => name],
		["Attempts", (row) => rate(row.attempts), true],
		["Failed", (row) => h(row.failed ? "span.bad" : "span", share(row.failed, row.attempts)), true],
		["Retries", (row) => rate(row.retries), true],
		["First byte 95%", (row) => seconds(row.first_byte), true],
		["Connections", (row) => `${count(row.busy)} busy, ${count(row.idle)} idle`, true],
		["Circuit", ({ breaker }) => word(breaker, "closed")],
	];
	return table("Upstreams now", columns, figures.upstreams);
}

function targets(rows) {
	if (!rows.length) return null;
	const columns = [
		["Target", ({ upstream, target }) => target || upstream],
		["Upstream", ({ upstream }) => upstream],
		["Circuit", ({ breaker }) => word(breaker, "closed")],
		["Health", ({ health }) => word(health, "in")],
	];
	const troubled = rows.filter(
		({ breaker, health }) => breaker !== "closed" || health !== "in",
	).length;
	const text = `Targets: ${count(rows.length)}, ${troubled ? `${count(troubled)} in trouble` : "all well"}`;
	return h("div", h("h3", text), table("Targets", columns, rows));
}

const word = (text, good) =>
	h(text === good ? "span.good" : "span.bad", text === "in" ? "well" : text);

function activities(title, rows, isModel = false) {
	const columns = [
		[title.slice(0, -1), ({ name }) => name],
		["Requests", (row) => rate(row.requests), true],
		["Failed", (row) => h(row.failed ? "span.bad" : "span", share(row.failed, row.requests)), true],
		["Median", (row) => seconds(row.duration[0]), true],
		["95%", (row) => seconds(row.duration[1]), true],
		["First byte 95%", (row) => seconds(row.first_byte), true],
	];
	if (isModel) {
		columns.push(
			["Tokens", (row) => rate(row.tokens), true],
			["Money per hour", (row) => amount(row.cost), true],
		);
	}
	const none = empty("No requests since the start.");
	return section(title, rows.length ? table(`${title} now`, columns, rows) : none);
}
