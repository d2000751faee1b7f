import { IMAGES, PDF, base64, content } from "./turn.js";

/* OpenAI's chat completions. */

export const takes = [...IMAGES, PDF, "audio/wav", "audio/mpeg"];

const textPart = (text) => ({ type: "text", text });

function filePart(file) {
	if (file.kind === "image") return { type: "image_url", image_url: { url: file.data } };
	if (file.kind === "audio") {
		const format = file.type === "audio/wav" ? "wav" : "mp3";
		return { type: "input_audio", input_audio: { data: base64(file), format } };
	}
	return { type: "file", file: { filename: file.name, file_data: file.data } };
}

function messages(turn) {
	const { role, calls, opaque } = turn;
	const message = { role, content: content(turn, textPart, filePart) };
	if (opaque?.length) message.reasoning_details = opaque;
	if (!calls.length) return [message];
	const tool_calls = calls.map(({ id, name, input, extra_content }) => {
		return { id, type: "function", function: { name, arguments: input || "{}" }, extra_content };
	});
	const results = calls.map(({ id, output }) => ({
		role: "tool",
		tool_call_id: id,
		content: output,
	}));
	return [{ ...message, tool_calls }, ...results];
}

export function body(turns, options) {
	const system = options.system ? [{ role: "system", content: options.system }] : [];
	const tools = options.functions.map((entry) => ({ type: "function", function: entry }));
	return {
		model: options.model,
		messages: [...system, ...turns.flatMap(messages)],
		tools: tools.length ? tools : undefined,
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
	for (const detail of delta.reasoning_details ?? []) keep(detail, reply.opaque);
	reply.write(delta.content);
	reply.write(delta.refusal);
	for (const [index, { id, function: called, ...call }] of (delta.tool_calls ?? []).entries()) {
		const at = reply.call(call.index ?? index, called?.name, called?.arguments, id);
		if (call.extra_content) at.extra_content = call.extra_content;
	}
	reply.finish(choice?.finish_reason);
	reply.use(counts(usage, "prompt", "completion"));
}

/** Add a piece of a detail of the reasoning to those before it. */
function keep(detail, details) {
	const same = ({ index, type }) => index === detail.index && type === detail.type;
	const earlier = detail.index !== undefined && details.find(same);
	if (!earlier) details.push({ ...detail });
	else {
		const text = (earlier.text ?? "") + (detail.text ?? "");
		Object.assign(earlier, detail, text ? { text } : {});
	}
}

/** The counts of a usage; OpenAI's two formats name input and output differently. */
export const counts = (usage, input, output) => ({
	input: usage?.[`${input}_tokens`],
	output: usage?.[`${output}_tokens`],
	cached: usage?.[`${input}_tokens_details`]?.cached_tokens,
	reasoning: usage?.[`${output}_tokens_details`]?.reasoning_tokens,
});
