/* Messages, as Anthropic speaks it. */

const LEAST = 1024; // the format must have a maximum

function part(image) {
	const [, type, data] = /^data:([^;]+);base64,(.*)$/.exec(image);
	return { type: "image", source: { type: "base64", media_type: type, data } };
}

function message(turn) {
	const said = turn.images.length
		? [...turn.images.map(part), { type: "text", text: turn.text }]
		: turn.text;
	return { role: turn.role, content: said };
}

export function body(turns, said) {
	return {
		model: said.model,
		max_tokens: said.maximum ?? LEAST,
		system: said.system || undefined,
		messages: turns.map(message),
		temperature: said.temperature,
		stream: said.stream || undefined,
	};
}

export const headers = (token) => ({ "x-api-key": token, "anthropic-version": "2023-06-01" });

export function read(data, reply) {
	if (data.type === "content_block_start") block(data.content_block, data.index, reply);
	if (data.type === "content_block_delta") {
		const delta = data.delta ?? {};
		reply.write(delta.text);
		reply.reason(delta.thinking);
		if (delta.type === "input_json_delta") reply.call(data.index, "", delta.partial_json);
	}
	if (data.type === "message_delta") reply.finish(data.delta?.stop_reason);
	if (data.type === "message") {
		for (const [index, one] of (data.content ?? []).entries()) block(one, index, reply);
		reply.finish(data.stop_reason);
	}
	const used = data.usage ?? data.message?.usage;
	if (used) use(used, reply);
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
	const read = used.cache_read_input_tokens ?? 0;
	const plain = used.input_tokens;
	const input =
		plain === undefined ? undefined : plain + read + (used.cache_creation_input_tokens ?? 0);
	reply.use({ input: input || undefined, output: used.output_tokens, cached: read || undefined });
}
