import { counts } from "./chat.js";
import { messages } from "./turn.js";

/* OpenAI's responses. */

const textPart = (text) => ({ type: "input_text", text });
const imagePart = (url) => ({ type: "input_image", image_url: url });

export const body = (turns, options) => ({
	model: options.model,
	instructions: options.system,
	input: messages(turns, textPart, imagePart),
	temperature: options.temperature,
	max_output_tokens: options.maximum,
	stream: options.stream,
});

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
		item?.type === "function_call" && reply.call(output_index, item.name, ""),
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
		if (item.type === "function_call") reply.call(index, item.name, item.arguments);
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
