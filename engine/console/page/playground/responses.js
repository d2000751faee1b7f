import { counts } from "./chat.js";
import { IMAGES, PDF, content } from "./turn.js";

/* OpenAI's responses. */

export const takes = [...IMAGES, PDF];

const textPart = (text) => ({ type: "input_text", text });

const filePart = ({ kind, name, data }) =>
	kind === "image"
		? { type: "input_image", image_url: data, detail: "auto" }
		: { type: "input_file", filename: name, file_data: data };

function items(turn) {
	const message = { role: turn.role, content: content(turn, textPart, filePart) };
	const calls = turn.calls.map(({ id, name, input }) => {
		return { type: "function_call", call_id: id, name, arguments: input || "{}" };
	});
	const results = turn.calls.map(({ id, output }) => {
		return { type: "function_call_output", call_id: id, output };
	});
	return [...(message.content ? [message] : []), ...calls, ...results];
}

export function body(turns, options) {
	const tools = options.functions.map((entry) => ({ type: "function", ...entry, strict: false }));
	return {
		model: options.model,
		instructions: options.system,
		input: turns.flatMap(items),
		tools: tools.length ? tools : undefined,
		temperature: options.temperature,
		max_output_tokens: options.maximum,
		stream: options.stream,
	};
}

export { headers } from "./chat.js";

const write = (reply, { delta }) => reply.write(delta);
const reason = (reply, { delta }) => reply.reason(delta);

/** How each type of event is read. */
const EVENTS = {
	"response.output_text.delta": write,
	"response.refusal.delta": write,
	"response.reasoning_summary_text.delta": reason,
	"response.reasoning_text.delta": reason,
	"response.output_item.added": (reply, { output_index, item }) =>
		item?.type === "function_call" && reply.call(output_index, item.name, "", item.call_id),
	"response.function_call_arguments.delta": (reply, { output_index, delta }) =>
		reply.call(output_index, "", delta),
};

/** Read an event of a stream, or a complete response. */
export function read(data, reply) {
	EVENTS[data.type]?.(reply, data);
	if (data.object === "response") complete(data, reply);
	if (/^response\.(completed|incomplete|failed)$/.test(data.type)) end(data.response, reply);
}

function complete(response, reply) {
	for (const [index, item] of (response.output ?? []).entries()) {
		if (item.type === "function_call") reply.call(index, item.name, item.arguments, item.call_id);
		for (const part of [...(item.summary ?? []), ...(item.content ?? [])]) {
			if (item.type === "reasoning") reply.reason(part.text);
			else reply.write(part.text ?? part.refusal);
		}
	}
	end(response, reply);
}

function end(response, reply) {
	reply.finish(response?.incomplete_details?.reason ?? response?.status);
	reply.use(counts(response?.usage, "input", "output"));
}
