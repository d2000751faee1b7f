const seconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`);

const USUAL = ["", "stop", "end_turn", "completed", "STOP"];

/** The line below a reply: times, tokens, cost, and an unusual reason of its end. */
export function facts({ usage, first, total, finished, stopped }, { price, currency }) {
	const money =
		usage && price
			? cost(usage, price)
					.toFixed(6)
					.replace(/0{1,4}$/, "")
			: "";
	return [
		first !== null && `first token ${seconds(first)}`,
		`total ${seconds(total)}`,
		usage && `${usage.input ?? "?"} tokens in, ${usage.output ?? "?"} out`,
		usage?.cached && `${usage.cached} cached`,
		usage?.reasoning && `${usage.reasoning} for reasoning`,
		money && `${money} ${currency}`,
		stopped ? "stopped" : !USUAL.includes(finished) && `ended: ${finished}`,
	]
		.filter(Boolean)
		.join(" · ");
}

/** At prices per million tokens. */
function cost({ input = 0, output = 0, cached = 0 }, price) {
	return (price.input * (input - cached) + price.cached * cached + price.output * output) / 1e6;
}
