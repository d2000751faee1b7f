import { bytesOf, messages } from "./turn.js";

/* Messages, as Anthropic speaks it. */

const LEAST = 1024; // the format must have a maximum

const textPart = (text) => ({ type: "text", text });

function imagePart(image) {
	const [media_type, data] = bytesOf(image);
	return { type: "image", source: { type: "base64", media_type, data } };
}

export const body = (turns, said) => ({
	model: said.model,
	max_tokens: said.maximum ?? LEAST,
	system: said.system,
	messages: messages(turns, textPart, imagePart),
	temperature: said.temperature,
	stream: said.stream,
});

export const headers = (token) => ({ "x-api-key": token, "anthropic-version": "2023-06-01" });

/** Take in a stream's event or a whole message. */
export function read(data, reply) {
	const { index, delta } = data;
	block(data.content_block, index, reply);
	for (const [place, one] of (data.content ?? []).entries()) block(one, place, reply);
	reply.write(delta?.text);
	reply.reason(delta?.thinking);
	if (delta?.type === "input_json_delta") reply.call(index, "", delta.partial_json);
	reply.finish(delta?.stop_reason ?? data.stop_reason);
	use(data.usage ?? data.message?.usage ?? {}, reply);
}

function block(one, index, reply) {
	reply.write(one?.text);
	reply.reason(one?.thinking);
	if (one?.type?.endsWith("tool_use")) {
		const known = Object.keys(one.input ?? {}).length;
		reply.call(index, one.name, known ? JSON.stringify(one.input) : "");
	}
}

/** The input is told in parts: without the cache, from it, and written to it. */
function use(used, reply) {
	const cached = used.cache_read_input_tokens || undefined;
	const input = used.input_tokens + (cached ?? 0) + (used.cache_creation_input_tokens ?? 0);
	reply.use({ input: input || undefined, output: used.output_tokens, cached });
}
