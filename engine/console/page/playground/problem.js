import { h } from "./dom.js";

/** Advice by an error's code, type or status. */
const ADVICE = {
	model_not_found: "Choose a model from the list, or another format.",
	upstream_credentials: "The upstream refused the gateway's credential: tell the operator.",
	network: "Check the connection, then retry.",
	400: "Correct the request; the message names the field.",
	401: "Check the token: it is unknown, expired or incomplete.",
	402: "Ask the operator for more, or wait until the budget begins again.",
	403: "The token does not allow this: choose another model or format, or ask the operator.",
	413: "Send less: fewer or smaller files, or a shorter conversation.",
};

/** A failed request, with the details that help to find the cause. */
export class Problem extends Error {
	constructor(message, details) {
		super(message);
		Object.assign(this, details);
	}
}

/** An exception as a problem; an unexpected one is logged. */
export function asProblem(error) {
	if (error instanceof Problem) return error;
	console.error(error);
	return new Problem(`This page failed: ${error.message}`);
}

/** Seconds of Retry-After in words, which is never too short. */
function duration(seconds) {
	if (!(seconds > 0)) return "a moment"; // none, or a date
	if (seconds < 120) return `${seconds} s`;
	return seconds < 7200
		? `${Math.ceil(seconds / 60)} minutes`
		: `${Math.ceil(seconds / 3600)} hours`;
}

function advice({ status, type, code, wait }) {
	if (status === 429) return `Wait ${duration(wait)}, then retry.`;
	const text = ADVICE[code] ?? ADVICE[type] ?? ADVICE[status];
	return text ?? "Retry; if it fails again, give the operator the request id.";
}

/** The details in the head of a response. */
export const about = ({ ok, status, headers }) => ({
	status: ok ? 0 : status,
	id: headers.get("x-request-id"),
	wait: headers.get("retry-after"),
});

/** The problem that a response's data report, in any dialect, or null. */
export function problemIn(data, response) {
	const event = Array.isArray(data) ? data[0] : data;
	const failed = event?.type === "response.failed" ? event.response : event;
	const error = failed?.error ?? (event?.type === "error" ? event : null);
	if (error && typeof error === "object") return read(error, response);
	if (response.ok) return null;
	return new Problem(`The response has status ${response.status}.`, about(response));
}

function read(error, response) {
	const head = about(response);
	const isNumber = typeof error.code === "number";
	return new Problem(String(error.message || "The response is an error without a message."), {
		...head,
		status: head.status || (isNumber && error.code),
		type: error.type ?? error.status,
		code: isNumber ? error.details?.[0]?.reason : error.code,
		param: error.param,
	});
}

/** A problem with its details and advice. */
export function card(problem) {
	const names = ["status", "type", "code", "param", "id"].filter((name) => problem[name]);
	const rows = names.flatMap((name) => [
		h("dt", name === "id" ? "request id" : name),
		h("dd", String(problem[name])),
	]);
	const title = h("p.title", problem.message);
	return h("div.problem", title, h("dl", ...rows), h("p", problem.advice ?? advice(problem)));
}
