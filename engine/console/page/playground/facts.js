const seconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`);

const USUAL = ["", "stop", "end_turn", "completed", "STOP"];

/** A conversation as the ledger names it, with the sums of its replies, retried ones too. */
export const newSession = () => ({
	id: `playground-${Math.random().toString(36).slice(2)}`,
	turns: 0,
	input: 0,
	cached: 0,
	cost: 0,
});

/** The line below a reply: times, tokens, cost, an unusual reason of its end; the session so far. */
export function facts({ usage, first, total, finished, stopped }, { price, currency, session }) {
	const paid = usage && price ? cost(usage, price) : 0;
	const input = (session.input += usage?.input ?? 0);
	const cached = (session.cached += usage?.cached ?? 0);
	session.cost += paid;
	const money = (amount) => amount && `${amount.toFixed(6).replace(/0{1,4}$/, "")} ${currency}`;
	const parts = [
		first !== null && `first token ${seconds(first)}`,
		`total ${seconds(total)}`,
		usage && `${usage.input ?? "?"} tokens in, ${usage.output ?? "?"} out`,
		usage?.cached && `${usage.cached} cached`,
		usage?.reasoning && `${usage.reasoning} for reasoning`,
		money(paid),
		stopped ? "stopped" : !USUAL.includes(finished) && `ended: ${finished}`,
	];
	if (++session.turns > 1)
		parts.push(
			`session ${session.id}: ${session.turns} turns`,
			input && `${Math.round((100 * cached) / input)}% of ${input} tokens in cached`,
			money(session.cost),
		);
	return parts.filter(Boolean).join(" · ");
}

/** At prices per million tokens. */
function cost({ input = 0, output = 0, cached = 0 }, price) {
	return (price.input * (input - cached) + price.cached * cached + price.output * output) / 1e6;
}
