/**
 * A parser of server-sent events (WHATWG HTML 9.2.6): `push` takes any piece of text and returns the
 * complete events, each with its `data` and its `raw` text.
 */
export class Events {
	#partial = ""; // the incomplete line
	#lines = []; // of the incomplete event
	#endsInReturn = false; // a line feed that follows belongs to it

	push(text) {
		if (!text) return [];
		const more = this.#endsInReturn ? text.replace(/^\n/, "") : text;
		const lines = (this.#partial + more).split(/\r\n|\r|\n/);
		this.#endsInReturn = text.endsWith("\r");
		this.#partial = lines.pop();
		const events = [];
		for (const line of lines) {
			if (line) this.#lines.push(line);
			else this.#flush(events);
		}
		return events;
	}

	#flush(events) {
		const raw = this.#lines.join("\n");
		const data = this.#lines
			.filter((line) => /^data(:|$)/.test(line))
			.map((line) => line.replace(/^data:? ?/, ""));
		if (data.length) events.push({ data: data.join("\n"), raw });
		this.#lines = [];
	}
}
