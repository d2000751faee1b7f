import { bytesOf } from "./turn.js";

/* Gemini's generate content: the path names the model. */

function part(image) {
	const [mimeType, data] = bytesOf(image);
	return { inlineData: { mimeType, data } };
}

const content = ({ role, text, images }) => ({
	role: role === "assistant" ? "model" : "user",
	parts: [...(text ? [{ text }] : []), ...images.map(part)],
});

export const body = (turns, options) => ({
	systemInstruction: options.system && { parts: [{ text: options.system }] },
	contents: turns.map(content),
	generationConfig: { temperature: options.temperature, maxOutputTokens: options.maximum },
});

export const headers = (token) => ({ "x-goog-api-key": token });

export function read(data, reply) {
	const candidate = data.candidates?.[0];
	for (const item of candidate?.content?.parts ?? []) {
		if (item.thought) reply.reason(item.text);
		else reply.write(item.text);
		const call = item.functionCall;
		if (call) reply.call(reply.calls.length, call.name, JSON.stringify(call.args ?? {}));
		if (item.inlineData) reply.picture(item.inlineData.mimeType, item.inlineData.data);
	}
	reply.finish(candidate?.finishReason ?? data.promptFeedback?.blockReason);
	if (data.usageMetadata) use(data.usageMetadata, reply);
}

/** Thoughts are added to the answer's tokens, unless the total shows that they are included. */
function use(usage, reply) {
	const thoughts = usage.thoughtsTokenCount ?? 0;
	const input = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
	const answer = usage.candidatesTokenCount ?? 0;
	const added = !(usage.totalTokenCount <= input + answer);
	reply.use({
		input,
		output: answer + (added ? thoughts : 0),
		cached: usage.cachedContentTokenCount,
		reasoning: thoughts || undefined,
	});
}

/** The arguments of the SDKs: everything except `contents` goes into `config`. */
export function arguments_(request, model) {
	const { contents, generationConfig, ...rest } = request;
	const config = { ...rest, ...generationConfig };
	return Object.keys(config).length ? { model, contents, config } : { model, contents };
}
