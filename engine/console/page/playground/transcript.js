import { announce, at, button, copyButton, h } from "./dom.js";
import { facts } from "./facts.js";
import { Markdown, codeBlock } from "./markdown.js";
import { card } from "./problem.js";

const NEAR_END = 80; // pixels from the end in which the view follows the text
const RECENT = 12; // turns that are always laid out; earlier ones only when they are visible
const ANNOUNCE_INTERVAL = 2500; // milliseconds

const scroller = at("scroller");
let following = true; // whether the view stays at the end as the text grows
let lastTop = 0; // the last scrollTop; scrolling up ends following

scroller.onscroll = () => {
	const { scrollTop, scrollHeight, clientHeight } = scroller;
	const isNear = scrollHeight - scrollTop - clientHeight < NEAR_END;
	following = scrollTop >= lastTop && (following || isNear);
	lastTop = scrollTop;
};

function follow() {
	if (following) scroller.scrollTop = scroller.scrollHeight;
	lastTop = scroller.scrollTop;
}

function show(turn) {
	const { children } = at("turns");
	at("turns").append(turn);
	children[children.length - RECENT]?.classList.add("past");
	at("empty").hidden = true;
	following = true;
	follow();
	return turn;
}

/** The user's turn, with its buttons. */
export function question({ text, images }, onEdit) {
	const pictures = images.map((src) => h("img", { src, alt: "Attached image" }));
	const copy = copyButton("Copy your message", () => text);
	const actions = h("div.actions", copy, button("Edit", "Edit your message", onEdit));
	const message = h("div.body.message", text, ...pictures);
	return show(h("article.turn.user", { ariaLabel: "You" }, message, actions));
}

/** A model's turn: draws its reply, at most once per frame. */
export class Answer {
	#frame = 0;
	#reasoning = ""; // as shown
	#parts = "[[],0]"; // the calls and the number of pictures, as shown
	#announced = 0; // characters of the text, and when
	#announcedAt = 0;

	constructor(options, onRetry) {
		this.options = options;
		this.body = h("div.body");
		this.thoughts = h("div.thoughts");
		this.reasoning = details("reasoning", "Reasoning", this.thoughts);
		this.reasoning.hidden = true;
		this.tools = h("div");
		this.wait = h("p.wait", "Waiting for the response");
		this.facts = h("p.facts.muted");
		const copy = copyButton("Copy this reply", () => this.reply.text);
		this.actions = h(
			"div.actions",
			{ hidden: true },
			copy,
			button("Retry", "Retry this reply", onRetry),
		);
		this.markdown = new Markdown(this.body);
		const name = h("p.name", options.model);
		const parts = [
			name,
			this.reasoning,
			this.wait,
			this.body,
			this.tools,
			this.facts,
			this.actions,
		];
		this.node = show(h("article.turn.model", { ariaLabel: options.model }, ...parts));
	}

	changed = () => {
		this.#frame ||= requestAnimationFrame(() => {
			this.#frame = 0;
			this.draw();
		});
	};

	draw() {
		const { text, reasoning, first, total } = this.reply;
		if (first !== null || total !== null) this.wait.remove();
		if (reasoning !== this.#reasoning) {
			this.reasoning.hidden = false;
			this.thoughts.textContent = this.#reasoning = reasoning;
		}
		this.markdown.show(text);
		this.#drawParts();
		follow();
		if (performance.now() - this.#announcedAt > ANNOUNCE_INTERVAL)
			this.#announce(text.lastIndexOf(" "));
	}

	#drawParts() {
		const { calls, pictures } = this.reply;
		const parts = JSON.stringify([calls, pictures.length]);
		if (parts === this.#parts) return;
		this.#parts = parts;
		const tools = calls.map(({ name, input }) =>
			h("div.tool", h("p", "Tool call ", h("code", name || "…")), codeBlock(pretty(input), "json")),
		);
		const images = pictures.map((src) => h("img", { src, alt: "Image of the reply" }));
		this.tools.replaceChildren(...tools, ...images);
	}

	/** Announce the new text up to `end`. */
	#announce(end) {
		if (end > this.#announced) announce(this.reply.text.slice(this.#announced, end));
		this.#announced = Math.max(end, this.#announced);
		this.#announcedAt = performance.now();
	}

	end() {
		cancelAnimationFrame(this.#frame);
		this.draw();
		const { text, first, problem, stopped, raw } = this.reply;
		this.#announce(text.length);
		announce(problem ? `Error: ${problem.message}` : stopped ? "Stopped." : "Reply complete.");
		this.actions.hidden = false;
		if (first === null && !problem) {
			const note = stopped ? "Stopped before any content." : "The reply is empty.";
			this.body.append(h("p.muted", note));
		}
		if (problem) this.body.after(card(problem));
		this.facts.textContent = facts(this.reply, this.options);
		if (raw.length) this.node.append(rawEvents(raw));
		follow();
	}
}

const details = (kind, title, inner) => h(`details.${kind}`, h("summary", title), inner);

function pretty(text) {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text; // incomplete
	}
}

function rawEvents(raw) {
	const node = details("raw", "Raw events");
	node.ontoggle = () => {
		if (node.lastChild.matches("summary"))
			node.append(codeBlock(raw.join("\n\n"), `${raw.length} events`));
	};
	return node;
}
