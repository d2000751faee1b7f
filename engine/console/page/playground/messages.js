import { IMAGES, PDF, argumentsOf, base64, content, parts } from "./turn.js";

/* Anthropic's messages. */

export const takes = [...IMAGES, PDF];

const MAX_TOKENS = 1024; // the format requires a maximum

const textPart = (text) => ({ type: "text", text });

const filePart = (file) => ({
	type: file.kind === "image" ? "image" : "document",
	source: { type: "base64", media_type: file.type, data: base64(file) },
});

function messages(turn) {
	const { role, calls, opaque = [] } = turn;
	if (!calls.length) return [{ role, content: content(turn, textPart, filePart) }];
	const uses = calls.map((call) => {
		return { type: "tool_use", id: call.id, name: call.name, input: argumentsOf(call) };
	});
	const results = calls.map(({ id, output }) => ({
		type: "tool_result",
		tool_use_id: id,
		content: output,
	}));
	return [
		{ role, content: [...opaque, ...parts(turn, textPart, filePart), ...uses] },
		{ role: "user", content: results },
	];
}

export function body(turns, options) {
	const tools = options.functions.map(({ name, description, parameters }) => {
		return { name, description, input_schema: parameters };
	});
	return {
		model: options.model,
		max_tokens: options.maximum ?? MAX_TOKENS,
		system: options.system,
		messages: turns.flatMap(messages),
		tools: tools.length ? tools : undefined,
		temperature: options.temperature,
		stream: options.stream,
	};
}

export const headers = (token) => ({ "x-api-key": token, "anthropic-version": "2023-06-01" });

/** Read an event of a stream, or a complete message. */
export function read(data, reply) {
	const { index, delta } = data;
	block(data.content_block, index, reply);
	for (const [index, item] of (data.content ?? []).entries()) block(item, index, reply);
	reply.write(delta?.text);
	reply.reason(delta?.thinking);
	think(delta, reply.opaque.at(-1));
	if (delta?.type === "input_json_delta") reply.call(index, "", delta.partial_json);
	reply.finish(delta?.stop_reason ?? data.stop_reason);
	use(data.usage ?? data.message?.usage ?? {}, reply);
}

function block(item, index, reply) {
	reply.write(item?.text);
	reply.reason(item?.thinking);
	if (/^(redacted_)?thinking$/.test(item?.type)) reply.opaque.push({ ...item });
	if (item?.type?.endsWith("tool_use")) {
		const size = Object.keys(item.input ?? {}).length;
		const input = size ? JSON.stringify(item.input) : "";
		const call = reply.call(index, item.name, input, item.id);
		if (item.type !== "tool_use") call.isHosted = true;
	}
}

/** Add to the block of thinking, which goes back with the results of tools. */
function think({ thinking = "", signature = "" } = {}, block) {
	if (block && thinking) block.thinking += thinking;
	if (block && signature) block.signature = (block.signature ?? "") + signature;
}

/** The input has three counts: uncached, read from the cache, and written to it. */
function use(usage, reply) {
	const cached = usage.cache_read_input_tokens || undefined;
	const input = usage.input_tokens + (cached ?? 0) + (usage.cache_creation_input_tokens ?? 0);
	reply.use({ input: input || undefined, output: usage.output_tokens, cached });
}
