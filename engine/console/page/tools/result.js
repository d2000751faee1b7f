import { copyButton, h } from "../playground/dom.js";

/** The nodes that show the result of a call, which took so many milliseconds. */
export function resultOf(result, duration) {
	const title = result.isError ? "The tool reports an error" : "Result";
	const text = JSON.stringify(result, null, 2);
	const facts = h("p.facts.muted", `${(duration / 1000).toFixed(2)} s`);
	const head = h(
		"div.row",
		h("h3", title),
		copyButton("Copy the result", () => text),
	);
	const parts = (result.content ?? []).map(part);
	const shown = result.isError ? h("div.problem", ...parts) : h("div", ...parts);
	return [head, shown, details("The whole result", text), facts];
}

function details(summary, text) {
	return h("details.raw", h("summary", summary), scrolled(text));
}

/** A text that can be scrolled by keyboard. */
const scrolled = (text) => h("pre", { tabIndex: 0 }, text);

function part(content) {
	switch (content.type) {
		case "text":
			return scrolled(indented(content.text));
		case "image":
			return h("img", { src: `data:${content.mimeType};base64,${content.data}`, alt: "Image" });
		case "resource_link":
			return h("p", `A link: ${content.uri}`);
		case "resource":
			return scrolled(content.resource.text ?? `${content.resource.mimeType}, in base64`);
		default:
			return h("p", `Content of the type ${content.type}: see the whole result.`);
	}
}

/** JSON with line ends, any other text as it is. */
function indented(text) {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text;
	}
}
