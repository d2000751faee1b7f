import { bytesOf } from "./turn.js";

/* Generate content, as Gemini speaks it: the model stands in the path. */

function part(image) {
	const [mimeType, data] = bytesOf(image);
	return { inlineData: { mimeType, data } };
}

const content = ({ role, text, images }) => ({
	role: role === "assistant" ? "model" : "user",
	parts: [...(text ? [{ text }] : []), ...images.map(part)],
});

export const body = (turns, said) => ({
	systemInstruction: said.system && { parts: [{ text: said.system }] },
	contents: turns.map(content),
	generationConfig: { temperature: said.temperature, maxOutputTokens: said.maximum },
});

export const headers = (token) => ({ "x-goog-api-key": token });

export function read(data, reply) {
	const candidate = data.candidates?.[0];
	for (const one of candidate?.content?.parts ?? []) {
		if (one.thought) reply.reason(one.text);
		else reply.write(one.text);
		const call = one.functionCall;
		if (call) reply.call(reply.calls.length, call.name, JSON.stringify(call.args ?? {}));
		if (one.inlineData) reply.picture(one.inlineData.mimeType, one.inlineData.data);
	}
	reply.finish(candidate?.finishReason ?? data.promptFeedback?.blockReason);
	if (data.usageMetadata) use(data.usageMetadata, reply);
}

/** Thoughts are counted beside the answer, or, as the total shows then, within it. */
function use(used, reply) {
	const thoughts = used.thoughtsTokenCount ?? 0;
	const input = (used.promptTokenCount ?? 0) + (used.toolUsePromptTokenCount ?? 0);
	const answer = used.candidatesTokenCount ?? 0;
	const beside = !(used.totalTokenCount <= input + answer);
	reply.use({
		input,
		output: answer + (beside ? thoughts : 0),
		cached: used.cachedContentTokenCount,
		reasoning: thoughts || undefined,
	});
}

/** The SDKs' own arguments: everything but the contents goes into `config`. */
export function arguments_(request, model) {
	const { contents, generationConfig, ...rest } = request;
	const config = { ...rest, ...generationConfig };
	return Object.keys(config).length ? { model, contents, config } : { model, contents };
}
