import { messages } from "./turn.js";

/* Chat completions, as OpenAI speaks it. */

const textPart = (text) => ({ type: "text", text });
const imagePart = (url) => ({ type: "image_url", image_url: { url } });

export function body(turns, said) {
	const system = said.system ? [{ role: "system", content: said.system }] : [];
	return {
		model: said.model,
		messages: [...system, ...messages(turns, textPart, imagePart)],
		temperature: said.temperature,
		max_completion_tokens: said.maximum,
		stream: said.stream,
		stream_options: said.stream && { include_usage: true },
	};
}

export const headers = (token) => ({ authorization: `Bearer ${token}` });

/** Take in a stream's event or a whole answer: they differ in one name. */
export function read({ choices, usage }, reply) {
	const choice = choices?.[0];
	const said = choice?.delta ?? choice?.message ?? {};
	reply.reason(said.reasoning_content ?? said.reasoning);
	reply.write(said.content);
	reply.write(said.refusal);
	for (const [index, call] of (said.tool_calls ?? []).entries()) {
		reply.call(call.index ?? index, call.function?.name, call.function?.arguments);
	}
	reply.finish(choice?.finish_reason);
	reply.use(counts(usage, "prompt", "completion"));
}

/** A usage's counts, which have OpenAI's two formats' own names for what goes in and out. */
export const counts = (usage, input, output) => ({
	input: usage?.[`${input}_tokens`],
	output: usage?.[`${output}_tokens`],
	cached: usage?.[`${input}_tokens_details`]?.cached_tokens,
	reasoning: usage?.[`${output}_tokens_details`]?.reasoning_tokens,
});
