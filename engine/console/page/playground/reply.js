import { Problem } from "./problem.js";

const isText = (value) => typeof value === "string" && value !== "";

const SAVED = "text reasoning calls pictures usage finished opaque facts first total stopped".split(
	" ",
);

/** A model's reply so far, in any format; `changed` is called at each change. */
export class Reply {
	text = "";
	reasoning = "";
	calls = []; // `{index, id, name, input, output}`: the output is the result, once there is one;
	// `isHosted`: the vendor runs the tool
	pictures = [];
	usage = null;
	finished = "";
	opaque = []; // what the format wants back with the next request, such as signatures
	raw = []; // the text of the events
	problem = null;
	stopped = false;
	first = null; // milliseconds to the first content, and in total
	total = null;
	facts = ""; // the line of times, tokens and cost
	changed = () => {};
	#start = performance.now();

	write(text) {
		this.#add("text", text);
	}

	reason(text) {
		this.#add("reasoning", text);
	}

	/** A part of the tool call `index`; returns the call. */
	call(index, name, more, id) {
		let call = this.calls.find((other) => other.index === index);
		if (!call) this.calls.push((call = { index, id: "", name: "", input: "" }));
		if (name) call.name = name;
		if (isText(id)) call.id = id;
		if (typeof more === "string") call.input += more;
		this.#grow();
		return call;
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

	/** The calls whose results the user enters. */
	get openCalls() {
		return this.calls.filter(({ isHosted }) => !isHosted);
	}

	/** Set the results of the open calls. */
	answer(outputs) {
		this.openCalls.forEach((call, n) => (call.output = outputs[n]));
	}

	end() {
		this.total = performance.now() - this.#start;
		this.calls.forEach((call, n) => (call.id ||= `call_${n + 1}`)); // some vendors give none
		this.changed();
	}

	/** What a reload keeps of it; one that is under way is then stopped. */
	snapshot() {
		const { problem, total, stopped } = this;
		const saved = Object.fromEntries(SAVED.map((name) => [name, this[name]]));
		const error = problem && { message: problem.message, ...problem };
		return { ...saved, total: total ?? 0, stopped: stopped || total === null, problem: error };
	}

	static from({ problem, ...saved }) {
		const error = problem && new Problem(problem.message, problem);
		return Object.assign(new Reply(), saved, { problem: error });
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
