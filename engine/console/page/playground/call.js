import { authorized } from "../session.js";
import { Problem, about, problemIn } from "./problem.js";
import { Events } from "./sse.js";

/** The base address of the gateway. The Content-Security-Policy allows requests to it only. */
const ROOT = document.querySelector(".brand").href.replace(/\/$/, "");

/** What a token may use, or the session if it is "". Throws Problem. */
export async function check(token) {
	const response = await request("/console/models.json", authorized(token));
	return orError(await json(response), response);
}

/** The path of a request. */
export function pathOf({ format, stream, model }) {
	const path = (stream && format.stream) || format.path;
	const query = stream && format.stream_query ? `?${format.stream_query}` : "";
	return path.replace("{model}", encodeURIComponent(model)) + query;
}

/** Send a request and read its response into the reply. Throws Problem, or AbortError. */
export async function send({ wire, options, body }, session, reply, signal) {
	const headers = {
		...wire.headers(options.token),
		"content-type": "application/json",
		"x-session-id": session,
	};
	const response = await request(pathOf(options), {
		method: "POST",
		...authorized(options.token, headers),
		body: JSON.stringify(body),
		signal,
	});
	const type = response.headers.get("content-type") ?? "";
	if (response.ok && type.startsWith("text/event-stream")) return stream(wire, response, reply);
	const data = await json(response);
	reply.raw.push(JSON.stringify(data, null, 2));
	wire.read(orError(data, response), reply);
}

async function stream(wire, response, reply) {
	const events = new Events();
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	for (let ended = false; !ended;) {
		const { done, value } = await orCut(reader.read(), response);
		ended = done;
		for (const { raw, data } of events.push(done ? "\n\n" : value)) {
			reply.raw.push(raw);
			if (data !== "[DONE]") wire.read(orError(parse(data, response), response), reply);
		}
	}
}

export function request(path, options) {
	const rules = { credentials: "omit", cache: "no-store", redirect: "error" };
	const response = fetch(ROOT + path, { ...rules, ...options });
	return orProblem(response, "The gateway cannot be reached.", { type: "network" });
}

const orCut = (promise, response) =>
	orProblem(promise, "The response was cut.", { ...about(response), type: "cut" });

export const json = async (response) => parse(await orCut(response.text(), response), response);

function parse(text, response) {
	try {
		return JSON.parse(text);
	} catch {
		throw new Problem(`The response is not JSON: ${text.slice(0, 200)}`, about(response));
	}
}

/** The data. Throws Problem if they report an error. */
export function orError(data, response) {
	const problem = problemIn(data, response);
	if (problem) throw problem;
	return data;
}

/** Await the network: a failure becomes a Problem, AbortError stays. */
const orProblem = (promise, message, more) =>
	promise.catch((error) => {
		throw error.name === "AbortError" ? error : new Problem(message, more);
	});
