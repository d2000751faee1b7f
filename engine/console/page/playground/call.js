import { Problem, about, problemIn } from "./problem.js";
import { Events } from "./sse.js";

/** The gateway's own address, as this page was reached: nothing else may be called from here. */
const ROOT = new URL("..", location.href).href.replace(/\/$/, "");

/** What a token is for. Throws Problem. */
export async function check(token) {
	const headers = { authorization: `Bearer ${token}` };
	const answer = await reach("/console/models.json", { headers });
	return sound(await json(answer), answer);
}

/** The path of a request. */
export function pathOf({ format, stream, model }) {
	const path = (stream && format.stream) || format.path;
	const query = stream && format.stream_query ? `?${format.stream_query}` : "";
	return path.replace("{model}", encodeURIComponent(model)) + query;
}

/** Send a request and take its answer into the reply. Throws Problem, or AbortError when stopped. */
export async function send({ wire, said, body }, reply, signal) {
	const answer = await reach(pathOf(said), {
		method: "POST",
		headers: { ...wire.headers(said.token), "content-type": "application/json" },
		body: JSON.stringify(body),
		signal,
	});
	const type = answer.headers.get("content-type") ?? "";
	if (answer.ok && type.startsWith("text/event-stream")) return stream(wire, answer, reply);
	const data = await json(answer);
	reply.raw.push(JSON.stringify(data, null, 2));
	wire.read(sound(data, answer), reply);
}

async function stream(wire, answer, reply) {
	const events = new Events();
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	for (let ended = false; !ended;) {
		const { done, value } = await whole(reader.read(), answer);
		ended = done;
		for (const { raw, data } of events.push(done ? "\n\n" : value)) {
			reply.raw.push(raw);
			if (data !== "[DONE]") wire.read(sound(parsed(data, answer), answer), reply);
		}
	}
}

function reach(path, options) {
	const rules = { credentials: "omit", cache: "no-store", redirect: "error" };
	const asked = fetch(ROOT + path, { ...rules, ...options });
	return unbroken(asked, "The gateway cannot be reached from here.", { type: "network" });
}

const whole = (reading, answer) =>
	unbroken(reading, "The answer broke off before its end.", { ...about(answer), type: "cut" });

const json = async (answer) => parsed(await whole(answer.text(), answer), answer);

function parsed(text, answer) {
	try {
		return JSON.parse(text);
	} catch {
		throw new Problem(`The answer is no JSON: ${text.slice(0, 200)}`, about(answer));
	}
}

/** The data, unless they tell of an error. */
function sound(data, answer) {
	const problem = problemIn(data, answer);
	if (problem) throw problem;
	return data;
}

/** What is awaited from the network; a failure of it becomes a Problem, a stop stays what it is. */
const unbroken = (awaited, words, more) =>
	awaited.catch((error) => {
		throw error.name === "AbortError" ? error : new Problem(words, more);
	});
