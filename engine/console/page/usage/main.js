import { announce, at, copyButton, h } from "../playground/dom.js";
import { asProblem, card } from "../playground/problem.js";
import { TokenField } from "../token.js";
import { check, requests, usage } from "./client.js";
import { limitCards } from "./limits.js";
import { requestTable } from "./requests.js";
import { byDay, byName, totals } from "./sums.js";

/* The usage of a caller: of a token or, without one, of who is signed in. */

const token = new TokenField(check, accept, refuse);
let rows = []; // of the last requests
let latest = 0; // the number of the last time that sums were asked for

/** Show the usage of the caller. */
function accept(access) {
	const { name, team, expires } = access.token;
	const choices = [h("option", { value: "token" }, `token ${name}`)];
	if (team) choices.push(h("option", { value: "team" }, `team ${team}`));
	at("of").replaceChildren(...choices);
	at("of").disabled = !team;
	for (const id of ["limits", "sums"]) at(id).replaceChildren(); // of the last token
	at("content").hidden = false;
	showAgents(access.agents);
	showSums();
	showRequests();
	const until = expires ? `, until ${new Date(expires * 1000).toLocaleDateString()}` : "";
	return `${name}${team ? `, team ${team}` : ""}${until}`;
}

function refuse() {
	latest++; // what was asked for the last token is not shown
	at("content").hidden = true;
}

/** The limits and the sums that are chosen; of several answers the last one that was asked for. */
async function showSums() {
	const number = ++latest;
	const { data: access, secret } = token;
	const query = { of: at("of").value, days: at("days").value };
	at("sums").ariaBusy = "true";
	if (!at("sums").childElementCount) at("sums").replaceChildren(h("p.wait", "Loading…"));
	let nodes;
	try {
		const answer = await usage(access, secret, query);
		const tags = answer.usage ? answer.tags : [];
		const ask = (by) => usage(access, secret, { ...query, by });
		const byTag = await Promise.all(tags.map((name) => sumsByTag(name, ask)));
		if (number !== latest) return;
		showLimits(answer.limits);
		nodes = sections(answer, byTag);
		announce("The usage is shown.");
	} catch (error) {
		nodes = [card(asProblem(error))];
	}
	if (number !== latest) return;
	at("sums").ariaBusy = "false";
	at("sums").replaceChildren(...nodes);
}

/** The rows of a tag; a tag with too many values does not hide the other sums. */
async function sumsByTag(name, ask) {
	try {
		return { name, values: (await ask(`tag:${name}`)).usage.rows };
	} catch (error) {
		return { name, problem: asProblem(error) };
	}
}

function showLimits(limits) {
	const none = h("li.muted", "No limit of its own is set for this token.");
	at("limits").replaceChildren(...(limits.length ? limitCards(limits) : [none]));
}

function sections({ usage: sums, currency }, byTag) {
	if (sums === null) {
		return [h("p.empty", "This gateway keeps no ledger (stores.records), so there are no sums.")];
	}
	if (!sums.days.length) return [h("p.empty", "There were no requests in this time.")];
	const measure = measureOf(sums.days);
	const nodes = [totals(sums.days, currency), ...byDay(sums, measure, currency)];
	if (sums.models.length) {
		nodes.push(h("h3", "By model"), byName("Model", "model", sums.models, measure, currency));
	}
	for (const { name, values, problem } of byTag) {
		if (!problem && !values.length) continue;
		const content = problem
			? h("p.muted", problem.message)
			: byName(name, "value", values, measure, currency);
		nodes.push(h("h3", `By ${name}`), content);
	}
	return nodes;
}

/** The measure of the charts; where nothing had a price, one of money would be empty. */
function measureOf(days) {
	const isFree = !days.some((row) => Object.values(row.cost).some(Number));
	const choice = at("measure");
	choice.options[0].disabled = isFree;
	if (isFree && choice.value === "cost") choice.value = "requests";
	return choice.value;
}

/** The last requests or, with the id of the last one that is shown, older ones as well. */
async function showRequests(after = "") {
	const place = at("requests");
	const { data: access, secret } = token;
	if (!access.requests) {
		at("requests-head").parentElement.hidden = true;
		return;
	}
	if (!after) place.replaceChildren(h("p.wait", "Loading…"));
	at("more").disabled = true;
	try {
		const { data, has_more } = await requests(access, secret, after);
		if (access !== token.data) return;
		rows = after ? [...rows, ...data] : data;
		const none = h("p.empty", "There are no requests of this token.");
		place.replaceChildren(rows.length ? requestTable(rows) : none);
		at("more").hidden = !has_more;
	} catch (error) {
		place.replaceChildren(card(asProblem(error)));
	}
	at("more").disabled = false;
}

function showAgents(agents) {
	at("agents-section").hidden = !agents.length;
	at("agents").replaceChildren(
		...agents.map(({ title, text, notes }) => {
			const label = `Settings of ${title}`;
			const code = h("pre", { tabIndex: 0, role: "region", ariaLabel: label }, h("code", text));
			const head = h(
				"div.code-head",
				copyButton(`Copy the settings of ${title}`, () => text),
			);
			return h(
				"details",
				h("summary", title),
				head,
				code,
				...notes.map((note) => h("p.note.muted", note)),
			);
		}),
	);
}

at("sign-in").onsubmit = (event) => event.preventDefault();
at("check").onclick = () => token.check();
at("choices").onsubmit = (event) => event.preventDefault();
for (const id of ["of", "days", "measure"]) at(id).onchange = showSums;
at("refresh").onclick = () => {
	showSums();
	showRequests();
};
at("more").onclick = () => showRequests(rows.at(-1).id);
token.restore();
