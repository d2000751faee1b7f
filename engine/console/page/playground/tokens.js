/* TeX as tokens. */

const TOKEN = /\\(?:[a-zA-Z]+|[^])|\d+(?:\.\d+)?|\s+|[^]/gu;

/** The formula has something that is not known here, or is not complete. */
export class Unknown extends Error {}

/** The tokens of a formula, one after another. */
export class Tokens {
	#tokens;
	#position = 0;

	constructor(text) {
		this.#tokens = text.trim().match(TOKEN) ?? [];
	}

	get peek() {
		return this.#tokens[this.#position];
	}

	next() {
		const token = this.peek;
		if (token === undefined) throw new Unknown();
		this.#position++;
		return token;
	}

	skipSpace() {
		while (this.peek?.trim() === "") this.#position++;
	}

	expect(token) {
		this.skipSpace();
		if (this.next() !== token) throw new Unknown();
	}

	primes() {
		let text = "";
		while (this.peek === "'") {
			this.#position++;
			text += "′";
		}
		return text;
	}

	/** Make the digits of a number tokens of their own. */
	splitNumber() {
		if (/^\d./.test(this.peek)) this.#tokens.splice(this.#position, 1, ...this.peek);
	}

	/** Skip the length behind the end of a row, as in `\\[2pt]`; true. */
	skipLength() {
		const ahead = this.#tokens.slice(this.#position, this.#position + 5).join("");
		if (/^\[ *[\d.]+ *[a-z]{2} *\]/.test(ahead)) while (this.next() !== "]");
		return true;
	}

	/** Read a token if it is the next, and return whether it was. */
	accept(token) {
		this.skipSpace();
		const isNext = this.peek === token;
		if (isNext) this.#position++;
		return isNext;
	}

	/** The text of a group as it is written. */
	text() {
		this.expect("{");
		let text = "";
		for (let depth = 1; ;) {
			const token = this.next();
			depth += token === "{" ? 1 : token === "}" ? -1 : 0;
			if (!depth) return text;
			text += token.replace(/^\\([{}$%&#_ ])$/, "$1");
		}
	}

	/** The text of a group of letters, without commands. */
	name() {
		const text = this.text().replaceAll("\\,", " ");
		if (text.includes("\\")) throw new Unknown();
		return text;
	}
}
