/* Numbers, amounts of money and times as texts. */

/** A count, in full. */
export const count = (value) => value.toLocaleString();

/** A count or a rate in few characters: 1.2M. */
export const short = (value) =>
	value.toLocaleString(undefined, {
		notation: "compact",
		maximumFractionDigits: value < 10 ? 2 : 1,
	});

/** An amount of money: to the cent from 1 on, with three digits if it is small, as in 0.000012. */
export function amount(value) {
	const number = Number(value);
	if (number === 0) return "0";
	if (number >= 1) {
		return number.toLocaleString(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
	}
	return number.toLocaleString(undefined, { maximumSignificantDigits: 3 });
}

/** What something cost, by currency: "0.02 USD + 1.00 EUR", "–" for nothing. */
export const cost = (costs) =>
	Object.entries(costs)
		.map(([currency, value]) => `${amount(value)} ${currency}`)
		.join(" + ") || "–";

/** Seconds with a unit. */
export function seconds(value) {
	if (value === null || value === undefined) return "–";
	if (value < 1) return `${Math.round(value * 1000)} ms`;
	return value < 100 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`;
}

const STEPS = [
	["second", 60],
	["minute", 60],
	["hour", 24],
	["day", Infinity],
];

/** How far away a time is: "in 3 days", "2 minutes ago". */
export function distance(time, now = Date.now()) {
	let value = (new Date(time) - now) / 1000;
	for (const [unit, length] of STEPS) {
		if (Math.abs(value) < length) {
			return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(
				Math.round(value),
				unit,
			);
		}
		value /= length;
	}
	return "";
}

/** A time in this place, to the second; with the year if that is another one. */
export function moment(time, now = new Date()) {
	const date = new Date(time);
	const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
	const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
	return date.toLocaleString(undefined, { year, month: "short", day: "numeric", ...clock });
}

/** A day of UTC. */
export const day = (text) =>
	new Date(`${text}T00:00:00Z`).toLocaleDateString(undefined, {
		timeZone: "UTC",
		day: "numeric",
		month: "short",
	});
