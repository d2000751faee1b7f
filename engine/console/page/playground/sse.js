/**
 * Server-sent events out of text in any pieces (WHATWG HTML 9.2.6): `push` returns those that are
 * whole. `data` is what an event says, `raw` its text as it came.
 */
export class Events {
	#rest = ""; // of a line that is not whole yet
	#lines = []; // of an event that is not
	#endsInReturn = false; // then a line feed at the next piece's start ends no line

	push(text) {
		if (!text) return [];
		const more = this.#endsInReturn ? text.replace(/^\n/, "") : text;
		const lines = (this.#rest + more).split(/\r\n|\r|\n/);
		this.#endsInReturn = text.endsWith("\r");
		this.#rest = lines.pop();
		const found = [];
		for (const line of lines) {
			if (line) this.#lines.push(line);
			else this.#flush(found);
		}
		return found;
	}

	#flush(found) {
		const raw = this.#lines.join("\n");
		const data = this.#lines
			.filter((line) => /^data(:|$)/.test(line))
			.map((line) => line.replace(/^data:? ?/, ""));
		if (data.length) found.push({ data: data.join("\n"), raw });
		this.#lines = [];
	}
}
