/* Chat completions, as OpenAI speaks it. */

const part = (image) => ({ type: "image_url", image_url: { url: image } });

function message(turn) {
	const said = turn.images.length
		? [{ type: "text", text: turn.text }, ...turn.images.map(part)]
		: turn.text;
	return { role: turn.role, content: said };
}

export function body(turns, said) {
	const system = said.system ? [{ role: "system", content: said.system }] : [];
	return {
		model: said.model,
		messages: [...system, ...turns.map(message)],
		temperature: said.temperature,
		max_completion_tokens: said.maximum,
		stream: said.stream || undefined,
		stream_options: said.stream ? { include_usage: true } : undefined,
	};
}

export const headers = (token) => ({ authorization: `Bearer ${token}` });

/** Take in a stream's event or a whole answer: they differ in one name. */
export function read(data, reply) {
	const choice = data.choices?.[0];
	const said = choice?.delta ?? choice?.message ?? {};
	reply.reason(said.reasoning_content ?? said.reasoning);
	reply.write(said.content);
	reply.write(said.refusal);
	for (const [index, call] of (said.tool_calls ?? []).entries()) {
		reply.call(call.index ?? index, call.function?.name, call.function?.arguments);
	}
	reply.finish(choice?.finish_reason);
	const used = data.usage;
	if (used) {
		reply.use({
			input: used.prompt_tokens,
			output: used.completion_tokens,
			cached: used.prompt_tokens_details?.cached_tokens,
			reasoning: used.completion_tokens_details?.reasoning_tokens,
		});
	}
}
