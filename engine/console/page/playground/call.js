import { Problem, problemIn } from "./problem.js";
import { Events } from "./sse.js";

/** The gateway's own address, as this page was reached: nothing else may be called from here. */
const ROOT = new URL("../", location.href).href.replace(/\/$/, "");

const OPTIONS = { credentials: "omit", cache: "no-store", redirect: "error" };

/** Ask what a token is for. Throws Problem. */
export async function check(token, signal) {
	const headers = { authorization: `Bearer ${token}` };
	const answer = await reach(`${ROOT}/console/models.json`, { headers, signal });
	const data = await json(answer);
	if (!answer.ok) throw refused(answer, data);
	return data;
}

/** The path of a request. */
export function pathOf(format, said) {
	const path = said.stream && format.stream ? format.stream : format.path;
	const query = format.name === "generate" && said.stream ? "?alt=sse" : "";
	return path.replace("{model}", encodeURIComponent(said.model)) + query;
}

/** Send a request and take its answer into the reply. Throws Problem, or AbortError when stopped. */
export async function send(wire, path, token, body, reply, signal) {
	const answer = await reach(ROOT + path, {
		method: "POST",
		headers: { ...wire.headers(token), "content-type": "application/json" },
		body: JSON.stringify(body),
		signal,
	});
	const type = answer.headers.get("content-type") ?? "";
	if (answer.ok && type.startsWith("text/event-stream")) return stream(wire, answer, reply);
	const data = await json(answer);
	reply.keep(JSON.stringify(data, null, 2));
	const problem = problemIn(data, answer.ok ? 0 : answer.status, answer.headers);
	if (!answer.ok || problem) throw problem ?? refused(answer, data);
	wire.read(data, reply);
}

async function stream(wire, answer, reply) {
	const events = new Events();
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	let ended = false;
	while (!ended) {
		const { done, value } = await reader.read().catch((error) => {
			throw error.name === "AbortError" ? error : broken(answer);
		});
		ended = done;
		for (const event of events.push(done ? "\n\n" : value)) {
			reply.keep(event.raw);
			if (event.data !== "[DONE]") take(wire, event.data, answer, reply);
		}
	}
}

function take(wire, text, answer, reply) {
	let data;
	try {
		data = JSON.parse(text);
	} catch {
		throw new Problem("The stream has an event that is no JSON.", about(answer));
	}
	const problem = problemIn(data, 0, answer.headers);
	if (problem) throw problem;
	wire.read(data, reply);
}

async function reach(url, options) {
	try {
		return await fetch(url, { ...OPTIONS, ...options });
	} catch (error) {
		if (error.name === "AbortError") throw error;
		throw new Problem("The gateway cannot be reached from here.", { type: "network" });
	}
}

async function json(answer) {
	const text = await answer.text().catch((error) => {
		throw error.name === "AbortError" ? error : broken(answer);
	});
	try {
		return JSON.parse(text);
	} catch {
		throw new Problem(`The answer is no JSON: ${text.slice(0, 200)}`, about(answer));
	}
}

const about = (answer) => ({ status: answer.status, id: answer.headers.get("x-request-id") ?? "" });
const broken = (answer) =>
	new Problem("The answer broke off before its end.", { ...about(answer), status: 0, type: "cut" });
const refused = (answer, data) =>
	problemIn(data, answer.status, answer.headers) ??
	new Problem(`The answer's status is ${answer.status}.`, about(answer));
