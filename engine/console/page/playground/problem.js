import { h } from "./dom.js";

/** What to do, by an error's code, its type or its status. */
const ADVICE = {
	model_not_found: "Choose a model from the list, or another format.",
	upstream_credentials: "The gateway's own key was refused: tell its operator.",
	network: "Check the connection, then retry.",
	400: "Correct the request; the message names the place.",
	401: "Check the token: it is unknown here, expired, or cut off.",
	402: "The budget of this token is used up: ask the operator.",
	403: "This token is not for that: choose another model or format, or ask the operator.",
	413: "Send less: fewer or smaller images, or a shorter conversation.",
};

/** An answer other than the one hoped for, with all that helps to find out why. */
export class Problem extends Error {
	constructor(message, more) {
		super(message);
		Object.assign(this, more);
	}
}

function advice({ status, type, code, wait }) {
	if (status === 429) return `Wait ${wait ? `${wait} s` : "a moment"}, then retry.`;
	const known = ADVICE[code] ?? ADVICE[type] ?? ADVICE[status];
	return known ?? "Retry; if it stays so, give the operator the request id.";
}

/** What an answer tells of itself. */
export const about = ({ ok, status, headers }) => ({
	status: ok ? 0 : status,
	id: headers.get("x-request-id"),
	wait: headers.get("retry-after"),
});

/** The problem that an answer's data tell of, in any dialect; null if they tell of none. */
export function problemIn(data, answer) {
	const one = Array.isArray(data) ? data[0] : data;
	const error = one?.type === "response.failed" ? one.response?.error : one?.error;
	const said = error ?? (one?.type === "error" ? one : null);
	if (said && typeof said === "object") return read(said, answer);
	if (answer.ok) return null;
	return new Problem(`The answer's status is ${answer.status}.`, about(answer));
}

function read(said, answer) {
	const known = about(answer);
	const isNumber = typeof said.code === "number";
	return new Problem(String(said.message || "The answer is an error without words."), {
		...known,
		status: known.status || (isNumber && said.code),
		type: said.type ?? said.status,
		code: isNumber ? said.details?.[0]?.reason : said.code,
		param: said.param,
	});
}

/** A problem with all that it tells, and what to do. */
export function card(problem) {
	const names = ["status", "type", "code", "param", "id"].filter((name) => problem[name]);
	const rows = names.flatMap((name) => [
		h("dt", name === "id" ? "request id" : name),
		h("dd", String(problem[name])),
	]);
	const what = h("p.what", problem.message);
	return h("div.problem", what, h("dl", ...rows), h("p", problem.advice ?? advice(problem)));
}
