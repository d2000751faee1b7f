import { at, button, copying, h, say } from "./dom.js";
import { facts } from "./facts.js";
import { Markdown, codeBlock } from "./markdown.js";
import { card } from "./problem.js";

const NEAR_END = 80; // pixels from the end within which the view follows the text
const RECENT = 12; // turns that are always laid out; those before only when they are looked at
const SAID_EVERY = 2500; // milliseconds between two words to a screen reader

const scroller = at("scroller");
let following = true; // whether the view stays at the end as the text grows
let before = 0; // how far down it was; whoever goes up is left there

scroller.onscroll = () => {
	const { scrollTop, scrollHeight, clientHeight } = scroller;
	const isNear = scrollHeight - scrollTop - clientHeight < NEAR_END;
	following = scrollTop >= before && (following || isNear);
	before = scrollTop;
};

function follow() {
	if (following) scroller.scrollTop = scroller.scrollHeight;
	before = scroller.scrollTop;
}

function show(turn) {
	at("turns").append(turn);
	at("turns").children[at("turns").childElementCount - RECENT]?.classList.add("past");
	at("empty").hidden = true;
	following = true;
	follow();
	return turn;
}

/** A turn of the person's, with what can be done with it. */
export function question({ text, images }, onEdit) {
	const pictures = images.map((src) => h("img", { src, alt: "Attached image" }));
	const copy = copying("Copy your message", () => text);
	const keys = h("div.keys", copy, button("Edit", "Edit your message", onEdit));
	const own = h("div.body.own", text, ...pictures);
	return show(h("article.turn.user", { ariaLabel: "You" }, own, keys));
}

/** A model's turn: shows what its reply holds, at most once for each frame. */
export class Answer {
	#frame = 0;
	#thought = ""; // the reasoning that is shown
	#seen = "[[],0]"; // the calls and pictures that are shown
	#heard = 0; // how much of the text was told, and when
	#spoken = 0;

	/** `said` is what the settings said: the model, its price. */
	constructor(said, onRetry) {
		this.said = said;
		this.body = h("div.body");
		this.thoughts = h("div.thoughts");
		this.reasoning = folded("reasoning", "Reasoning", this.thoughts);
		this.reasoning.hidden = true;
		this.tools = h("div");
		this.wait = h("p.wait", "Waiting for the first word");
		this.facts = h("p.facts.muted");
		const copy = copying("Copy this reply", () => this.reply.text);
		this.keys = h("div.keys", { hidden: true }, copy, button("Retry", "Retry this reply", onRetry));
		this.markdown = new Markdown(this.body);
		const who = h("p.who", said.model);
		const parts = [who, this.reasoning, this.wait, this.body, this.tools, this.facts, this.keys];
		this.node = show(h("article.turn.model", { ariaLabel: said.model }, ...parts));
	}

	/** What the reply calls at each bit of text. */
	changed = () => {
		this.#frame ||= requestAnimationFrame(() => {
			this.#frame = 0;
			this.draw();
		});
	};

	draw() {
		const { text, reasoning, first, total } = this.reply;
		if (first !== null || total !== null) this.wait.remove();
		if (reasoning !== this.#thought) {
			this.reasoning.hidden = false;
			this.thoughts.textContent = this.#thought = reasoning;
		}
		this.markdown.show(text);
		this.#callsAndPictures();
		follow();
		if (performance.now() - this.#spoken > SAID_EVERY) this.#speak(text.lastIndexOf(" "));
	}

	#callsAndPictures() {
		const { calls, pictures } = this.reply;
		const now = JSON.stringify([calls, pictures.length]);
		if (now === this.#seen) return;
		this.#seen = now;
		const shown = calls.map(({ name, input }) =>
			h("div.tool", h("p", "Tool call ", h("code", name || "…")), codeBlock(pretty(input), "json")),
		);
		const images = pictures.map((src) => h("img", { src, alt: "Image of the reply" }));
		this.tools.replaceChildren(...shown, ...images);
	}

	/** Tell the words that came since, up to a place in the text. */
	#speak(end) {
		if (end > this.#heard) say(this.reply.text.slice(this.#heard, end));
		this.#heard = Math.max(end, this.#heard);
		this.#spoken = performance.now();
	}

	end() {
		cancelAnimationFrame(this.#frame);
		this.draw();
		const { text, first, problem, stopped, raw } = this.reply;
		this.#speak(text.length);
		say(problem ? `Error: ${problem.message}` : stopped ? "Stopped." : "Reply complete.");
		this.keys.hidden = false;
		if (first === null && !problem) {
			const words = stopped ? "Stopped before the first word." : "The reply is empty.";
			this.body.append(h("p.muted", words));
		}
		if (problem) this.body.after(card(problem));
		this.facts.textContent = facts(this.reply, this.said);
		if (raw.length) this.node.append(rawEvents(raw));
		follow();
	}
}

const folded = (kind, words, inner) => h(`details.${kind}`, h("summary", words), inner);

function pretty(text) {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text; // not whole yet
	}
}

function rawEvents(raw) {
	const made = folded("raw", "Raw events");
	made.ontoggle = () => {
		if (made.lastChild.matches("summary"))
			made.append(codeBlock(raw.join("\n\n"), `${raw.length} events`));
	};
	return made;
}
