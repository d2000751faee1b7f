const seconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`);

const USUAL = ["", "stop", "end_turn", "completed", "STOP", "tool_calls", "tool_use"];

/** A conversation as the ledger names it, with the sums of its replies, retried ones too. */
export const newSession = () => ({
	id: `playground-${Math.random().toString(36).slice(2)}`,
	turns: 0,
	input: 0,
	cached: 0,
	cost: 0,
});

/**
 * The line below a reply: times, speed, tokens, cost, an unusual reason of its end; and the sums of
 * the session, unless several replies are compared.
 */
export function facts(reply, { price, currency, session }, isCompared) {
	const { usage, first, total, finished, stopped } = reply;
	const paid = usage && price ? cost(usage, price) : 0;
	const input = (session.input += usage?.input ?? 0);
	const cached = (session.cached += usage?.cached ?? 0);
	session.cost += paid;
	const parts = [
		first !== null && `first token ${seconds(first)}`,
		`total ${seconds(total)}`,
		speed(reply),
		usage && `${usage.input ?? "?"} tokens in, ${usage.output ?? "?"} out`,
		usage?.cached && `${usage.cached} cached`,
		usage?.reasoning && `${usage.reasoning} for reasoning`,
		money(paid, currency),
		stopped ? "stopped" : !USUAL.includes(finished) && `ended: ${finished}`,
	];
	if (++session.turns > 1 && !isCompared)
		parts.push(
			`session ${session.id}: ${session.turns} turns`,
			input && `${input} tokens in, ${Math.round((100 * cached) / input)}% cached`,
			money(session.cost, currency),
		);
	return parts.filter(Boolean).join(" · ");
}

/** Tokens per second: from the first token on, or in total for a reply that came at once. */
function speed({ usage, reasoning, first, total }) {
	const hidden = reasoning ? 0 : (usage?.reasoning ?? 0);
	const tokens = (usage?.output ?? 0) - hidden;
	const streamed = total - first;
	const rate = streamed > 10 ? (tokens - 1) / streamed : tokens / total;
	return first !== null && rate > 0 && `${(1000 * rate).toFixed(1)} tokens/s`;
}

/** An amount, with more digits if it is small. */
function money(amount, currency) {
	const text = amount.toFixed(amount < 1e-5 ? 9 : 6).replace(/0{1,4}$/, "");
	return amount > 0 && `${text} ${currency}`;
}

/** At prices per million tokens. */
function cost({ input = 0, output = 0, cached = 0 }, price) {
	return (price.input * (input - cached) + price.cached * cached + price.output * output) / 1e6;
}
