import { bytesOf, messages } from "./turn.js";

/* Anthropic's messages. */

const MAX_TOKENS = 1024; // the format requires a maximum

const textPart = (text) => ({ type: "text", text });

function imagePart(image) {
	const [media_type, data] = bytesOf(image);
	return { type: "image", source: { type: "base64", media_type, data } };
}

export const body = (turns, options) => ({
	model: options.model,
	max_tokens: options.maximum ?? MAX_TOKENS,
	system: options.system,
	messages: messages(turns, textPart, imagePart),
	temperature: options.temperature,
	stream: options.stream,
});

export const headers = (token) => ({ "x-api-key": token, "anthropic-version": "2023-06-01" });

/** Read an event of a stream, or a complete message. */
export function read(data, reply) {
	const { index, delta } = data;
	block(data.content_block, index, reply);
	for (const [index, item] of (data.content ?? []).entries()) block(item, index, reply);
	reply.write(delta?.text);
	reply.reason(delta?.thinking);
	if (delta?.type === "input_json_delta") reply.call(index, "", delta.partial_json);
	reply.finish(delta?.stop_reason ?? data.stop_reason);
	use(data.usage ?? data.message?.usage ?? {}, reply);
}

function block(item, index, reply) {
	reply.write(item?.text);
	reply.reason(item?.thinking);
	if (item?.type?.endsWith("tool_use")) {
		const size = Object.keys(item.input ?? {}).length;
		reply.call(index, item.name, size ? JSON.stringify(item.input) : "");
	}
}

/** The input has three counts: uncached, read from the cache, and written to it. */
function use(usage, reply) {
	const cached = usage.cache_read_input_tokens || undefined;
	const input = usage.input_tokens + (cached ?? 0) + (usage.cache_creation_input_tokens ?? 0);
	reply.use({ input: input || undefined, output: usage.output_tokens, cached });
}
