/* Generate content, as Gemini speaks it: the model stands in the path. */

function part(image) {
	const [, mimeType, data] = /^data:([^;]+);base64,(.*)$/.exec(image);
	return { inlineData: { mimeType, data } };
}

const content = (turn) => ({
	role: turn.role === "assistant" ? "model" : "user",
	parts: [...turn.images.map(part), { text: turn.text }],
});

export function body(turns, said) {
	const config = { temperature: said.temperature, maxOutputTokens: said.maximum };
	return {
		systemInstruction: said.system ? { parts: [{ text: said.system }] } : undefined,
		contents: turns.map(content),
		generationConfig: Object.values(config).some((one) => one !== undefined) ? config : undefined,
	};
}

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
	const used = data.usageMetadata;
	if (used) {
		const thoughts = used.thoughtsTokenCount ?? 0;
		const input = (used.promptTokenCount ?? 0) + (used.toolUsePromptTokenCount ?? 0);
		const answer = used.candidatesTokenCount ?? 0;
		const counted = used.totalTokenCount > input + answer || used.totalTokenCount === undefined;
		reply.use({
			input,
			output: answer + (counted ? thoughts : 0),
			cached: used.cachedContentTokenCount,
			reasoning: thoughts || undefined,
		});
	}
}

/** The SDKs' own arguments: everything but the contents goes into `config`. */
export function arguments_(request, model) {
	const { contents, generationConfig, ...rest } = request;
	const config = { ...rest, ...generationConfig };
	return Object.keys(config).length ? { model, contents, config } : { model, contents };
}
