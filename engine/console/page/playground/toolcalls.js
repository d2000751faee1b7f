import { button, h } from "./dom.js";
import { codeBlock } from "./markdown.js";

/** The tool calls of a reply, and the fields for their results, which go back to the model. */
export class ToolCalls {
	#shown = "[]";
	#calls = [];

	/** `send` is called with the results, in the order of the open calls. */
	constructor(send) {
		this.send = send;
		this.rows = h("div");
		this.node = h("form.tools", this.rows);
		this.node.onsubmit = (event) => {
			event.preventDefault();
			this.send(this.fields.map(({ value }) => value));
		};
	}

	/** Show the calls so far. */
	show(calls) {
		const text = JSON.stringify(calls);
		if (text === this.#shown) return;
		this.#shown = text;
		this.#calls = calls;
		this.rows.replaceChildren(
			...calls.map(({ name, input }) =>
				h(
					"div.tool",
					h("p", "Tool call ", h("code", name || "…")),
					codeBlock(pretty(input), "json"),
				),
			),
		);
	}

	/** Ask for the results of these calls, which are complete. */
	ask(open) {
		if (!open.length) return;
		this.fields = open.map((call) => {
			const placeholder = "What the tool returns: JSON or text";
			const field = h("textarea", { rows: 2, value: call.output ?? "", placeholder });
			const row = this.rows.children[this.#calls.indexOf(call)];
			row.append(h("label.field", `Result of ${call.name}`, field));
			return field;
		});
		const label = open.length > 1 ? "Send results" : "Send result";
		const send = button(label, `${label} to the model`);
		send.type = "submit";
		send.className = "small";
		this.node.append(send);
	}
}

function pretty(text) {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text; // incomplete
	}
}
