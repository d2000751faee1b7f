import { messages } from "./turn.js";

/* OpenAI's chat completions. */

const textPart = (text) => ({ type: "text", text });
const imagePart = (url) => ({ type: "image_url", image_url: { url } });

export function body(turns, options) {
	const system = options.system ? [{ role: "system", content: options.system }] : [];
	return {
		model: options.model,
		messages: [...system, ...messages(turns, textPart, imagePart)],
		temperature: options.temperature,
		max_completion_tokens: options.maximum,
		stream: options.stream,
		stream_options: options.stream && { include_usage: true },
	};
}

export const headers = (token) => ({ authorization: `Bearer ${token}` });

/** Read an event of a stream, or a complete response. */
export function read({ choices, usage }, reply) {
	const choice = choices?.[0];
	const delta = choice?.delta ?? choice?.message ?? {};
	reply.reason(delta.reasoning_content ?? delta.reasoning);
	reply.write(delta.content);
	reply.write(delta.refusal);
	for (const [index, call] of (delta.tool_calls ?? []).entries()) {
		reply.call(call.index ?? index, call.function?.name, call.function?.arguments);
	}
	reply.finish(choice?.finish_reason);
	reply.use(counts(usage, "prompt", "completion"));
}

/** The counts of a usage; OpenAI's two formats name input and output differently. */
export const counts = (usage, input, output) => ({
	input: usage?.[`${input}_tokens`],
	output: usage?.[`${output}_tokens`],
	cached: usage?.[`${input}_tokens_details`]?.cached_tokens,
	reasoning: usage?.[`${output}_tokens_details`]?.reasoning_tokens,
});
