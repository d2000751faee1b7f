import { IMAGES, PDF, argumentsOf, base64, parsed, parts } from "./turn.js";

/* Gemini's generate content: the path names the model. */

export const takes = [
	...[...IMAGES, PDF, "audio/wav", "audio/mpeg"],
	...["audio/ogg", "audio/flac", "audio/aac", "audio/aiff"],
];

const textPart = (text) => ({ text });

const filePart = (file) => ({ inlineData: { mimeType: file.type, data: base64(file) } });

function contents(turn) {
	const role = turn.role === "assistant" ? "model" : "user";
	const { calls } = turn;
	const uses = calls.map((call) => ({
		functionCall: { name: call.name, args: argumentsOf(call) },
		thoughtSignature: call.signature,
	}));
	const content = { role, parts: [...parts(turn, textPart, filePart), ...uses] };
	const results = calls.map((call) => ({
		functionResponse: { name: call.name, response: resultOf(call) },
	}));
	return results.length ? [content, { role: "user", parts: results }] : [content];
}

/** The result of a call: the format requires an object. */
function resultOf({ output }) {
	const value = parsed(output);
	return value?.constructor === Object ? value : { result: value ?? output };
}

export function body(turns, options) {
	const declarations = options.functions.map(({ name, description, parameters }) => {
		return { name, description, parametersJsonSchema: parameters };
	});
	return {
		systemInstruction: options.system && { parts: [{ text: options.system }] },
		contents: turns.flatMap(contents),
		tools: declarations.length ? [{ functionDeclarations: declarations }] : undefined,
		generationConfig: { temperature: options.temperature, maxOutputTokens: options.maximum },
	};
}

export const headers = (token) => ({ "x-goog-api-key": token });

export function read(data, reply) {
	const candidate = data.candidates?.[0];
	for (const item of candidate?.content?.parts ?? []) {
		if (item.thought) reply.reason(item.text);
		else reply.write(item.text);
		const call = item.functionCall;
		if (call) {
			const entry = reply.call(reply.calls.length, call.name, JSON.stringify(call.args ?? {}));
			entry.signature = item.thoughtSignature;
		}
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

/**
 * The arguments of the SDKs: everything except `contents` goes into `config`. They refuse or drop
 * members that they do not know, other than those of `extraBody`, which they merge into the request.
 */
export function arguments_({ own, options: { model, extra } }) {
	const { contents, generationConfig, ...rest } = own;
	const httpOptions = Object.keys(extra).length ? { httpOptions: { extraBody: extra } } : {};
	const config = { ...rest, ...generationConfig, ...httpOptions };
	return Object.keys(config).length ? { model, contents, config } : { model, contents };
}
