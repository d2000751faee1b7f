const isText = (value) => typeof value === "string" && value !== "";

/** A model's reply so far, in any format; `changed` is called at each change. */
export class Reply {
	text = "";
	reasoning = "";
	calls = [];
	pictures = [];
	usage = null;
	finished = "";
	raw = []; // the text of the events
	problem = null;
	stopped = false;
	first = null; // milliseconds to the first content, and in total
	total = null;
	#start = performance.now();

	constructor(changed) {
		this.changed = changed;
	}

	write(text) {
		this.#add("text", text);
	}

	reason(text) {
		this.#add("reasoning", text);
	}

	/** A part of the tool call `index`. */
	call(index, name, more) {
		let call = this.calls.find((other) => other.index === index);
		if (!call) this.calls.push((call = { index, name: "", input: "" }));
		if (name) call.name = name;
		if (typeof more === "string") call.input += more;
		this.#grow();
	}

	picture(type, data) {
		if (!/^image\/(png|jpeg|webp|gif)$/.test(type) || !isText(data)) return;
		this.pictures.push(`data:${type};base64,${data}`);
		this.#grow();
	}

	/** Update the counts that are given. */
	use(counts) {
		const numbers = Object.entries(counts).filter(([, value]) => Number.isFinite(value));
		if (numbers.length) this.usage = { ...this.usage, ...Object.fromEntries(numbers) };
	}

	finish(reason) {
		if (isText(reason)) this.finished = reason;
	}

	end() {
		this.total = performance.now() - this.#start;
		this.changed();
	}

	#add(name, text) {
		if (!isText(text)) return;
		this[name] += text;
		this.#grow();
	}

	#grow() {
		this.first ??= performance.now() - this.#start;
		this.changed();
	}
}
