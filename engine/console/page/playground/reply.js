const isText = (value) => typeof value === "string" && value !== "";

/** What a model has answered until now, whatever the format; `changed` is called at each bit. */
export class Reply {
	text = "";
	reasoning = "";
	calls = [];
	pictures = [];
	usage = null;
	finished = "";
	raw = []; // the events as they came
	problem = null;
	stopped = false;
	first = null; // milliseconds until the first bit, and until the end
	total = null;
	#began = performance.now();

	constructor(changed) {
		this.changed = changed;
	}

	write(text) {
		this.#add("text", text);
	}

	reason(text) {
		this.#add("reasoning", text);
	}

	/** A part of a tool call; `index` tells which. */
	call(index, name, more) {
		let one = this.calls.find((known) => known.index === index);
		if (!one) this.calls.push((one = { index, name: "", input: "" }));
		if (name) one.name = name;
		if (typeof more === "string") one.input += more;
		this.#grew();
	}

	picture(type, data) {
		if (!/^image\/(png|jpeg|webp|gif)$/.test(type) || !isText(data)) return;
		this.pictures.push(`data:${type};base64,${data}`);
		this.#grew();
	}

	/** Counts; a later one holds, what it leaves out stays. */
	use(counts) {
		const said = Object.entries(counts).filter(([, value]) => Number.isFinite(value));
		if (said.length) this.usage = { ...this.usage, ...Object.fromEntries(said) };
	}

	finish(why) {
		if (isText(why)) this.finished = why;
	}

	end() {
		this.total = performance.now() - this.#began;
		this.changed();
	}

	#add(name, text) {
		if (!isText(text)) return;
		this[name] += text;
		this.#grew();
	}

	#grew() {
		this.first ??= performance.now() - this.#began;
		this.changed();
	}
}
