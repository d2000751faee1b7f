/**
 * Server-sent events out of text in any pieces (WHATWG HTML 9.2.6): `push` returns those that are
 * whole. `data` is what an event says, `raw` its text as it came.
 */
export class Events {
	#rest = "";
	#lines = [];
	#skipLineFeed = false;

	push(text) {
		if (this.#skipLineFeed && text) {
			if (text[0] === "\n") text = text.slice(1);
			this.#skipLineFeed = false;
		}
		const found = [];
		let from = 0;
		const end = /\r\n|\r|\n/g;
		for (let match; (match = end.exec(text));) {
			const line = this.#rest + text.slice(from, match.index);
			this.#rest = "";
			from = end.lastIndex;
			if (match[0] === "\r" && from === text.length) this.#skipLineFeed = true;
			if (line) this.#lines.push(line);
			else this.#flush(found);
		}
		this.#rest += text.slice(from);
		return found;
	}

	#flush(found) {
		const lines = this.#lines;
		this.#lines = [];
		const data = lines
			.filter((line) => line === "data" || line.startsWith("data:"))
			.map((line) => line.slice(5).replace(/^ /, ""));
		if (data.length) found.push({ data: data.join("\n"), raw: lines.join("\n") });
	}
}
