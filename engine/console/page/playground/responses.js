/* Responses, as OpenAI speaks it. */

const part = (image) => ({ type: "input_image", image_url: image });

function item(turn) {
	const said = turn.images.length
		? [{ type: "input_text", text: turn.text }, ...turn.images.map(part)]
		: turn.text;
	return { role: turn.role, content: said };
}

export function body(turns, said) {
	return {
		model: said.model,
		instructions: said.system || undefined,
		input: turns.map(item),
		temperature: said.temperature,
		max_output_tokens: said.maximum,
		stream: said.stream || undefined,
	};
}

export const headers = (token) => ({ authorization: `Bearer ${token}` });

const WRITES = ["response.output_text.delta", "response.refusal.delta"];
const REASONS = ["response.reasoning_summary_text.delta", "response.reasoning_text.delta"];

export function read(data, reply) {
	if (data.object === "response") return whole(data, reply);
	if (WRITES.includes(data.type)) reply.write(data.delta);
	if (REASONS.includes(data.type)) reply.reason(data.delta);
	if (data.type === "response.output_item.added" && data.item?.type === "function_call") {
		reply.call(data.output_index, data.item.name, "");
	}
	if (data.type === "response.function_call_arguments.delta") {
		reply.call(data.output_index, "", data.delta);
	}
	if (/^response\.(completed|incomplete|failed)$/.test(data.type)) end(data.response ?? {}, reply);
}

function whole(data, reply) {
	for (const [index, one] of (data.output ?? []).entries()) {
		for (const said of one.summary ?? []) reply.reason(said.text);
		if (one.type === "function_call") reply.call(index, one.name, one.arguments);
		for (const said of one.content ?? []) {
			if (one.type === "reasoning") reply.reason(said.text);
			else reply.write(said.text ?? said.refusal);
		}
	}
	end(data, reply);
}

function end(response, reply) {
	reply.finish(response.incomplete_details?.reason ?? response.status);
	const used = response.usage;
	if (used) {
		reply.use({
			input: used.input_tokens,
			output: used.output_tokens,
			cached: used.input_tokens_details?.cached_tokens,
			reasoning: used.output_tokens_details?.reasoning_tokens,
		});
	}
}
