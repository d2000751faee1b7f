/** An answer other than the one hoped for, with all that helps to find out why. */
export class Problem extends Error {
	constructor(message, more = {}) {
		super(message);
		Object.assign(this, { status: 0, type: "", code: "", param: "", id: "", wait: "" }, more);
	}

	/** What to do about it. */
	get advice() {
		const byCode = {
			model_not_found:
				"Choose a model from the list, or another format: a model speaks its server's.",
			model_not_allowed: "This token is not for that model. Choose another one from the list.",
			operation_not_allowed: "This token is not for that format. Choose another one.",
			address_not_allowed: "This token may not be used from this network address.",
			upstream_credentials: "The gateway's own key was refused: tell its operator.",
		}[this.code];
		return byCode ?? this.#byStatus();
	}

	#byStatus() {
		if (this.status === 400) return "Correct the request; the message names the place.";
		if (this.status === 401) return "Check the token: it is unknown here, expired, or cut off.";
		if (this.status === 402)
			return "The budget of this token is used up: ask the platform's operator.";
		if (this.status === 413)
			return "Send less: fewer or smaller images, or a shorter conversation.";
		if (this.status === 429)
			return `Wait ${this.wait ? `${this.wait} s` : "a moment"}, then retry.`;
		if (this.type === "network") return "Check the connection, then retry.";
		return "Retry; if it stays so, give the operator the request id.";
	}
}

const word = (value) => (typeof value === "string" ? value : value ? String(value) : "");

/** The problem that an error object tells of, in any dialect; null for anything else. */
export function problemIn(data, status, headers) {
	const one = Array.isArray(data) ? data[0] : data;
	const error = one?.type === "response.failed" ? one.response?.error : (one?.error ?? null);
	const said = one?.type === "error" && !error ? one : error;
	if (!said || typeof said !== "object") return null;
	const isNumber = typeof said.code === "number";
	return new Problem(word(said.message) || "The answer is an error without words.", {
		status: status || (isNumber ? said.code : 0),
		type: word(said.type ?? said.status),
		code: isNumber ? word(said.details?.[0]?.reason) : word(said.code),
		param: word(said.param),
		id: headers?.get("x-request-id") ?? word(one.request_id),
		wait: headers?.get("retry-after") ?? "",
	});
}
