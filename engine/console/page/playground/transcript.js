import { at, copy, h, say } from "./dom.js";
import { codeBlock, Markdown } from "./markdown.js";
import { cost } from "./reply.js";

const NEAR_END = 80; // pixels from the end within which the view follows the text
const RECENT = 12; // turns that are always laid out; those before only when they are looked at
const SAID_EVERY = 2500; // milliseconds between two words to a screen reader

const scroller = at("scroller");
let following = true; // whether the view stays at the end as the text grows

const leave = () => (following = false);
scroller.addEventListener("wheel", (event) => event.deltaY < 0 && leave(), { passive: true });
scroller.addEventListener("touchmove", leave, { passive: true });
scroller.addEventListener("pointerdown", (event) => event.target === scroller && leave());
scroller.addEventListener("keydown", ({ key }) => /^(ArrowUp|PageUp|Home)$/.test(key) && leave());
scroller.addEventListener("scroll", () => {
	const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
	following ||= left < NEAR_END;
});

function follow() {
	if (following) scroller.scrollTop = scroller.scrollHeight;
}

const button = (words, label, onclick) =>
	h("button", { type: "button", className: "quiet small", "aria-label": label, onclick }, words);

/** A turn of the person's, with what can be done with it. */
export function question(turn, onEdit) {
	const body = h("div", { className: "body own" }, turn.text);
	for (const image of turn.images) body.append(h("img", { src: image, alt: "Attached image" }));
	const keys = h("div", { className: "keys" });
	keys.append(button("Copy", "Copy your message", (event) => copy(turn.text, event.currentTarget)));
	keys.append(button("Edit", "Edit your message", onEdit));
	return show(h("article", { className: "turn user", "aria-label": "You" }, body, keys));
}

function show(made) {
	at("turns").append(made);
	at("turns").children[at("turns").childElementCount - RECENT]?.classList.add("past");
	at("empty").hidden = true;
	following = true;
	follow();
	return made;
}

/** A model's turn: `draw` shows what its reply holds, once for each frame at most. */
export class Answer {
	#frame = 0;
	#heard = 0;
	#spoken = 0;

	constructor(model, { onRetry, currency, price }) {
		this.currency = currency;
		this.price = price;
		this.body = h("div", { className: "body" });
		this.thoughts = h("div", { className: "thoughts" });
		this.reasoning = h(
			"details",
			{ className: "reasoning", hidden: true },
			h("summary", {}, "Reasoning"),
			this.thoughts,
		);
		this.tools = h("div", { className: "tools" });
		this.wait = h("p", { className: "wait" }, h("span", {}, "Waiting for the first word"));
		this.facts = h("p", { className: "facts muted" });
		this.keys = h("div", { className: "keys", hidden: true });
		this.keys.append(
			button("Copy", "Copy this reply", (event) => copy(this.reply.text, event.currentTarget)),
		);
		this.keys.append(button("Retry", "Retry this reply", onRetry));
		this.markdown = new Markdown(this.body);
		const who = h("p", { className: "who" }, model);
		this.node = h("article", { className: "turn model", "aria-label": model });
		this.node.append(who, this.reasoning, this.wait, this.body, this.tools, this.facts, this.keys);
		show(this.node);
	}

	/** What the reply calls at each bit of text. */
	changed = () => {
		this.#frame ||= requestAnimationFrame(() => {
			this.#frame = 0;
			this.draw();
		});
	};

	draw() {
		const { reply } = this;
		if (reply.first !== null || reply.total !== null) this.wait.remove();
		if (reply.reasoning) {
			this.reasoning.hidden = false;
			this.thoughts.textContent = reply.reasoning;
		}
		this.markdown.show(reply.text);
		this.#callsAndPictures();
		follow();
		if (performance.now() - this.#spoken > SAID_EVERY) this.#speak();
	}

	#callsAndPictures() {
		const { calls, pictures } = this.reply;
		const seen = JSON.stringify(calls) + pictures.length;
		if (seen === this.tools.dataset.seen || seen === "[]0") return;
		this.tools.dataset.seen = seen;
		const shown = calls.map((call) =>
			h(
				"div",
				{ className: "tool" },
				h("p", {}, "Tool call ", h("code", {}, call.name || "…")),
				codeBlock(pretty(call.input), "json"),
			),
		);
		this.tools.replaceChildren(
			...shown,
			...pictures.map((src) => h("img", { src, alt: "Image of the reply" })),
		);
	}

	/** Tell the words that came since, up to the last whole one. */
	#speak(all = false) {
		const { text } = this.reply;
		const end = all ? text.length : text.lastIndexOf(" ");
		if (end > this.#heard) say(text.slice(this.#heard, end));
		this.#heard = Math.max(end, this.#heard);
		this.#spoken = performance.now();
	}

	end() {
		cancelAnimationFrame(this.#frame);
		this.draw();
		const { reply } = this;
		this.#speak(true);
		say(
			reply.problem
				? `Error: ${reply.problem.message}`
				: reply.stopped
					? "Stopped."
					: "Reply complete.",
		);
		this.keys.hidden = false;
		if (!reply.text && !reply.calls.length && !reply.pictures.length && !reply.problem) {
			this.body.append(
				h(
					"p",
					{ className: "muted" },
					reply.stopped ? "Stopped before the first word." : "The reply is empty.",
				),
			);
		}
		if (reply.problem) this.body.after(card(reply.problem));
		this.facts.textContent = facts(reply, this.price, this.currency).join(" · ");
		if (reply.raw.length) this.node.append(raw(reply));
		follow();
	}
}

function pretty(text) {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	} catch {
		return text; // not whole yet, or not JSON at all: shown as it came
	}
}

const seconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`);

function facts(reply, price, currency) {
	const { usage, first, total, finished, stopped } = reply;
	const money = cost(usage, price);
	return [
		first === null ? "" : `first token ${seconds(first)}`,
		`total ${seconds(total)}`,
		usage ? `${usage.input ?? "?"} tokens in, ${usage.output ?? "?"} out` : "",
		usage?.cached ? `${usage.cached} cached` : "",
		usage?.reasoning ? `${usage.reasoning} for reasoning` : "",
		money === null ? "" : `${money.toFixed(6).replace(/0{1,4}$/, "")} ${currency}`,
		stopped
			? "stopped"
			: /^(stop|end_turn|completed|STOP)?$/.test(finished)
				? ""
				: `ended: ${finished}`,
	].filter(Boolean);
}

/** An error with all that it tells, and what to do. */
export function card(problem) {
	const rows = ["status", "type", "code", "param", "id"].filter((name) => problem[name]);
	const list = h(
		"dl",
		{},
		...rows.map((name) =>
			h(
				"div",
				{},
				h("dt", {}, name === "id" ? "request id" : name),
				h("dd", {}, String(problem[name])),
			),
		),
	);
	return h(
		"div",
		{ className: "problem" },
		h("p", { className: "what" }, problem.message),
		list,
		h("p", {}, problem.advice),
	);
}

function raw(reply) {
	const made = h("details", { className: "raw" }, h("summary", {}, "Raw events"));
	made.addEventListener("toggle", () => {
		if (made.childElementCount === 1)
			made.append(codeBlock(reply.raw.join("\n\n"), `${reply.raw.length} events`));
	});
	return made;
}
