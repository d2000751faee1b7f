import { counts } from "./chat.js";
import { messages } from "./turn.js";

/* Responses, as OpenAI speaks it. */

const textPart = (text) => ({ type: "input_text", text });
const imagePart = (url) => ({ type: "input_image", image_url: url });

export const body = (turns, said) => ({
	model: said.model,
	instructions: said.system,
	input: messages(turns, textPart, imagePart),
	temperature: said.temperature,
	max_output_tokens: said.maximum,
	stream: said.stream,
});

export { headers } from "./chat.js";

const write = (reply, { delta }) => reply.write(delta);
const reason = (reply, { delta }) => reply.reason(delta);

/** What events tell of. */
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

/** Take in a stream's event or a whole response. */
export function read(data, reply) {
	EVENTS[data.type]?.(reply, data);
	if (data.object === "response") whole(data, reply);
	if (/^response\.(completed|incomplete|failed)$/.test(data.type)) end(data.response, reply);
}

function whole(response, reply) {
	for (const [index, one] of (response.output ?? []).entries()) {
		if (one.type === "function_call") reply.call(index, one.name, one.arguments);
		for (const said of [...(one.summary ?? []), ...(one.content ?? [])]) {
			if (one.type === "reasoning") reply.reason(said.text);
			else reply.write(said.text ?? said.refusal);
		}
	}
	end(response, reply);
}

function end(response, reply) {
	reply.finish(response?.incomplete_details?.reason ?? response?.status);
	reply.use(counts(response?.usage, "input", "output"));
}
