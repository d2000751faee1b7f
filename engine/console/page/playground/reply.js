/** What a model has answered until now, whatever the format; `changed` is called at each bit. */
export class Reply {
	text = "";
	reasoning = "";
	calls = [];
	pictures = [];
	usage = null;
	finished = "";
	raw = [];
	rawSize = 0;
	problem = null;
	stopped = false;
	first = null;
	total = null;

	constructor(changed) {
		this.changed = changed;
		this.began = performance.now();
	}

	write(text) {
		if (typeof text === "string" && text) this.#grow(() => (this.text += text));
	}

	reason(text) {
		if (typeof text === "string" && text) this.#grow(() => (this.reasoning += text));
	}

	/** A part of a tool call; `index` tells which. */
	call(index, name, more) {
		this.#grow(() => {
			let one = this.calls.find((known) => known.index === index);
			if (!one) this.calls.push((one = { index, name: "", input: "" }));
			if (name) one.name = name;
			if (typeof more === "string") one.input += more;
		});
	}

	picture(type, data) {
		if (/^image\/(png|jpeg|webp|gif)$/.test(type) && typeof data === "string") {
			this.#grow(() => this.pictures.push(`data:${type};base64,${data}`));
		}
	}

	/** Counts; a later one holds, what it leaves out stays. */
	use(counts) {
		const said = Object.entries(counts).filter(([, value]) => Number.isFinite(value));
		this.usage = { ...this.usage, ...Object.fromEntries(said) };
	}

	finish(why) {
		if (typeof why === "string" && why) this.finished = why;
	}

	/** Keep an event as it came, up to a megabyte of them. */
	keep(raw) {
		if (this.rawSize > 1e6) return;
		this.rawSize += raw.length;
		this.raw.push(this.rawSize > 1e6 ? "… what follows is not kept" : raw);
	}

	end() {
		this.total = performance.now() - this.began;
		this.changed();
	}

	#grow(change) {
		this.first ??= performance.now() - this.began;
		change();
		this.changed();
	}
}

/** What a usage costs at prices per million tokens. */
export function cost(usage, price) {
	if (!usage || !price) return null;
	const { input = 0, output = 0, cached = 0 } = usage;
	return (price.input * (input - cached) + price.cached * cached + price.output * output) / 1e6;
}
