import { at, h } from "./playground/dom.js";
import { Problem, card } from "./playground/problem.js";
import { showSession } from "./session.js";

/* The token field of a page; who is signed in needs none. The token is in memory, in the tab's
   session storage only if "Keep" is checked, and never in a URL. */

const STORAGE_KEY = "modelway.token";
const ADVICE = "Paste your token: ASCII characters without spaces.";

export class TokenField {
	data = null; // what the token may use; null without a valid token
	secret = ""; // the token that was checked last; "" for the session
	person = null; // who is signed in
	#checks = 0;

	/**
	 * `load` gets the data of a token, and throws Problem; `accept` shows the data and returns a
	 * few words about them; `refuse` is called for an invalid token.
	 */
	constructor(load, accept, refuse) {
		this.load = load;
		this.accept = accept;
		this.refuse = refuse;
		this.input = at("token");
		this.input.onkeydown = ({ key }) => {
			if (key === "Enter") at("check").click();
		};
		at("keep").onchange = () => this.#store();
	}

	/** Check the stored token or the session; false if there is neither. */
	async restore() {
		const stored = sessionStorage.getItem(STORAGE_KEY);
		if (stored) {
			this.input.value = stored;
			at("keep").checked = true;
		}
		this.person = await showSession(at("session"));
		const step = document.querySelector("#empty li");
		if (this.person && step) step.textContent = "You are signed in: no token is needed.";
		if (!stored && !this.person) return false;
		await this.check();
		return true;
	}

	/** Whether the token is valid; a new token is checked first. */
	async ready() {
		return (this.data !== null && this.secret === this.input.value.trim()) || this.check();
	}

	/** Check the token in the field, and return whether it is valid. */
	async check() {
		const show = (node) => at("token-status").replaceChildren(node);
		const number = ++this.#checks;
		this.secret = this.input.value.trim();
		this.data = null;
		show(h("p.muted", "Checking…"));
		try {
			const data = await this.#load();
			if (number !== this.#checks) return false; // another token has been entered since
			this.data = data;
		} catch (error) {
			if (!(error instanceof Problem)) throw error;
			if (number !== this.#checks) return false;
			show(card(error));
		}
		this.input.ariaInvalid = String(!this.data);
		if (this.data) {
			this.#store();
			const words = this.secret ? "The token is valid" : "The session is used";
			show(h("p.good", `✓ ${words}: ${this.accept(this.data)}.`));
		} else this.refuse();
		return this.data !== null;
	}

	#load() {
		const isPerson = this.person !== null && !this.secret;
		if (isPerson || /^[\x21-\x7e]+$/.test(this.secret)) return this.load(this.secret);
		throw new Problem("A token is needed.", { advice: ADVICE });
	}

	#store() {
		if (at("keep").checked && this.data && this.secret)
			sessionStorage.setItem(STORAGE_KEY, this.secret);
		else sessionStorage.removeItem(STORAGE_KEY);
	}
}
