import { bar } from "../data/table.js";
import { amount, count, distance } from "../data/format.js";
import { h } from "../playground/dom.js";

/* What is left of each limit. */

const NAMES = {
	budget: "Budget",
	tokens: "Tokens",
	requests: "Requests",
	concurrency: "Requests at a time",
};
const NEAR = 0.8;

/** The list's entries, those near their end first. */
export const limitCards = (limits) =>
	limits.toSorted((one, other) => share(other) - share(one)).map(card);

const share = ({ used, amount }) => (Number(amount) ? Number(used) / Number(amount) : 1);

function card(limit) {
	const used = share(limit);
	const state = used >= 1 ? ".over" : used >= NEAR ? ".near" : "";
	const text = (value) => (typeof value === "string" ? amount(value) : count(value));
	const holder = Object.entries(limit.by).map(
		([kind, name]) => `${kind} ${name ?? "without a name"}`,
	);
	const reset = limit.resets_at && used ? `free again ${distance(limit.resets_at)}` : "";
	const window = limit.window ? `per ${limit.window}` : "";
	const unit = limit.window ? limit.unit : ""; // else the title has it
	return h(
		`li${state}`,
		h("p.title", `${NAMES[limit.kind] ?? limit.kind} ${window}`),
		h("p.left", `${text(limit.left)} ${unit} left`),
		bar(used),
		h("p.muted", `${text(limit.used)} of ${text(limit.amount)} used (${Math.round(used * 100)}%)`),
		h("p.muted", [`of ${holder.join(" with ")}`, reset].filter(Boolean).join(", ")),
	);
}
