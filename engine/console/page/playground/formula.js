import { accent, m, operator, row, space, withLimits } from "./mathml.js";
import { Tokens, Unknown } from "./tokens.js";
import * as tex from "./symbols.js";

/* Formulas: the usual part of TeX as MathML, built of nodes and without attributes from the text.
   What it does not know stays TeX. */

const MAX_LENGTH = 4000; // characters
const MAX_DEPTH = 40;

/** The `math` element of a formula; null if it has something unknown. */
export function formula(text, isDisplay) {
	if (text.length > MAX_LENGTH) return null;
	try {
		const parser = new Parser(text, isDisplay);
		const nodes = parser.row([]);
		if (parser.peek !== undefined) return null;
		const node = m("math", ...nodes);
		if (isDisplay) node.setAttribute("display", "block");
		return node;
	} catch (error) {
		if (error instanceof Unknown) return null;
		throw error;
	}
}

class Parser extends Tokens {
	#depth = 0;

	constructor(text, isDisplay) {
		super(text);
		this.isDisplay = isDisplay;
	}

	/** The nodes up to one of the tokens `ends`, which is not read, or the end of the text. */
	row(ends) {
		const nodes = [];
		for (;;) {
			this.skipSpace();
			if (this.peek === undefined || ends.includes(this.peek)) return nodes;
			nodes.push(this.scripts(/^[_^']$/.test(this.peek) ? m("mrow") : this.atom()));
		}
	}

	/** A base with the scripts that follow it. */
	scripts(base) {
		let [below, above] = [null, null];
		for (;;) {
			this.skipSpace();
			if (this.peek === "'" && !above) above = m("mo", this.primes());
			else if (this.peek === "_" && !below) below = this.script();
			else if (this.peek === "^" && !above) above = this.script();
			else if (this.peek === "^" && above.localName === "mo")
				above = m("mrow", above, this.script());
			else break;
		}
		const isOver = this.isDisplay && base.hasLimits;
		const names = isOver ? ["munder", "mover", "munderover"] : ["msub", "msup", "msubsup"];
		if (below && above) return m(names[2], base, below, above);
		if (below) return m(names[0], base, below);
		return above ? m(names[1], base, above) : base;
	}

	script() {
		this.next();
		return this.argument();
	}

	/** An argument: a group, or the next atom. */
	argument() {
		this.skipSpace();
		this.splitNumber(); // without braces, a digit is an argument
		return this.atom();
	}

	/** A letter, a number, an operator, a group or a command with its arguments. */
	atom() {
		if (++this.#depth > MAX_DEPTH) throw new Unknown();
		const node = this.#atom();
		this.#depth--;
		return node;
	}

	group() {
		const nodes = this.row(["}"]);
		this.expect("}");
		return row(nodes);
	}

	#atom() {
		const token = this.next();
		if (token === "{") return this.group();
		if (token === "~") return space(tex.SPACES[" "]);
		if (/^[}&^_$#%]$/.test(token)) throw new Unknown();
		if (token.length > 1 && token.startsWith("\\")) return this.command(token.slice(1));
		if (/^\d/.test(token)) return m("mn", token);
		if (/^\p{L}/u.test(token)) return m("mi", token);
		return operator(token.replace(/^-$/, "−"));
	}

	command(name) {
		const has = (table) => Object.hasOwn(table, name) && table[name];
		if (has(tex.LETTERS)) return m("mi", tex.LETTERS[name]);
		if (has(tex.OPERATORS)) return operator(tex.OPERATORS[name]);
		if (has(tex.INTEGRALS)) return m("mo", tex.INTEGRALS[name]);
		if (has(tex.SUMS)) return withLimits(m("mo", tex.SUMS[name]));
		if (tex.FUNCTIONS.has(name)) return m("mi", name);
		if (tex.LIMITS.has(name)) return withLimits(m("mo", name));
		if (Object.hasOwn(tex.SPACES, name)) return space(tex.SPACES[name]);
		if (has(tex.ACCENTS)) return accent("mover", this.argument(), tex.ACCENTS[name]);
		if (has(tex.BELOW)) return withLimits(accent("munder", this.argument(), tex.BELOW[name]));
		if (has(tex.ALPHABETS)) return this.styled(name);
		if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name](this);
		if (/^[{}%$&#_|]$/.test(name)) return operator(name === "|" ? "‖" : name);
		throw new Unknown();
	}

	styled(alphabet) {
		this.skipSpace();
		const text = this.peek === "{" ? this.name() : this.next();
		if (!/^[\w\s]*$/.test(text)) throw new Unknown();
		return m("mi", ...[...text].map((character) => tex.styled(character, alphabet)));
	}

	/** The delimiter behind \left, \right or \middle; "." is none. */
	delimiter() {
		this.skipSpace();
		const token = this.next();
		const name = token.replace(/^\\/, "");
		const text = name === "|" && token !== name ? "‖" : (tex.OPERATORS[name] ?? name);
		if (!/^[.()[\]{}|/‖⟨⟩⌊⌋⌈⌉↑↓<>]$/.test(text)) throw new Unknown();
		return text === "." ? m("mrow") : operator(text, true);
	}

	fenced() {
		const nodes = [this.delimiter()];
		for (;;) {
			nodes.push(...this.row(["\\right", "\\middle"]));
			const end = this.next();
			nodes.push(this.delimiter());
			if (end === "\\right") return m("mrow", ...nodes);
		}
	}

	environment() {
		const name = this.name();
		const fences = Object.hasOwn(tex.ENVIRONMENTS, name) ? tex.ENVIRONMENTS[name] : null;
		if (fences === null) throw new Unknown();
		if (name === "array") this.text(); // the columns
		const rows = [];
		do rows.push(this.cells());
		while (this.accept("\\\\") && this.skipLength());
		if (rows.at(-1).childElementCount === 1 && !rows.at(-1).firstChild.hasChildNodes()) rows.pop();
		this.expect("\\end");
		if (this.name() !== name) throw new Unknown();
		const table = m("mtable", ...rows);
		table.classList.add(/^(align|split|cases)/.test(name) ? "aligned" : "matrix");
		const [left = "", right = ""] = fences;
		return m("mrow", operator(left, true), table, operator(right, true));
	}

	/** A row of a table. */
	cells() {
		const cells = [];
		do cells.push(m("mtd", ...this.row(["&", "\\\\", "\\end"])));
		while (this.accept("&"));
		return m("mtr", ...cells);
	}

	root() {
		this.skipSpace();
		if (this.peek !== "[") return m("msqrt", this.argument());
		this.next();
		const degree = row(this.row(["]"]));
		this.expect("]");
		return m("mroot", this.argument(), degree);
	}

	fraction(...fences) {
		const node = m("mfrac", this.argument(), this.argument());
		if (!fences.length) return node;
		node.setAttribute("linethickness", "0");
		return m("mrow", operator(fences[0], true), node, operator(fences[1], true));
	}
}

const text = (parser) => m("mtext", parser.name());
const nothing = () => m("mrow");

const COMMANDS = {
	frac: (parser) => parser.fraction(),
	dfrac: (parser) => parser.fraction(),
	tfrac: (parser) => parser.fraction(),
	binom: (parser) => parser.fraction("(", ")"),
	sqrt: (parser) => parser.root(),
	left: (parser) => parser.fenced(),
	begin: (parser) => parser.environment(),
	operatorname(parser) {
		if (parser.peek !== "*") return m("mi", parser.name());
		parser.next();
		return withLimits(m("mo", parser.name()));
	},
	mathrm: (parser) => m("mi", parser.name()),
	mathit: (parser) => m("mi", parser.name()),
	text,
	textbf: text,
	textit: text,
	textrm: text,
	mbox: text,
	boxed: (parser) => m("mrow", parser.argument()),
	tag: (parser) => m("mtext", ` (${parser.name()})`),
	...Object.fromEntries(
		["big", "Big", "bigg", "Bigg", "bigl", "bigr"].map((name) => [name, nothing]),
	),
	...Object.fromEntries(
		["limits", "nolimits", "displaystyle", "textstyle"].map((name) => [name, nothing]),
	),
	...{
		"\\": () => m("mspace"),
		pmod: (parser) => m("mrow", m("mo", "(mod"), parser.argument(), m("mo", ")")),
	},
};
