import { fileNode } from "./attachments.js";
import { announce, at, button, copyButton, h } from "./dom.js";
import { facts } from "./facts.js";
import { Markdown, codeBlock } from "./markdown.js";
import { card } from "./problem.js";
import { ToolCalls } from "./toolcalls.js";

const NEAR_END = 80; // pixels from the end in which the view follows the text
const RECENT = 12; // turns that are always laid out; earlier ones only when they are visible
const ANNOUNCE_INTERVAL = 2500; // milliseconds

const scroller = at("scroller");
const turns = at("turns").getElementsByClassName("turn");
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

function show(turn, parent) {
	parent.append(turn);
	turns[turns.length - RECENT]?.classList.add("past");
	at("empty").hidden = true;
	following = true;
	follow();
	return turn;
}

/** The nodes of a round: the user's turn, with its buttons, and a cell for each lane. */
export class Round {
	#cells = new Map();

	constructor({ text, files }, onEdit) {
		const copy = copyButton("Copy your message", () => text);
		const actions = h("div.actions", copy, button("Edit", "Edit your message", onEdit));
		const message = h("div.body.message", text, ...files.map(fileNode));
		this.question = h("article.turn.user", { ariaLabel: "You" }, message, actions);
		show(this.question, at("turns"));
		this.answers = h("div.answers");
		at("turns").append(this.answers);
	}

	/** The node of a lane's replies. */
	cell(lane) {
		if (!this.#cells.has(lane)) {
			const cell = h("div.cell");
			this.#cells.set(lane, cell);
			this.answers.append(cell);
			this.answers.classList.toggle("beside", this.#cells.size > 1);
		}
		return this.#cells.get(lane);
	}

	/** Whether several models answer. */
	get isCompared() {
		return this.#cells.size > 1;
	}

	remove() {
		this.question.remove();
		this.answers.remove();
	}
}

/** A model's turn: draws its reply, at most once per frame. */
export class Answer {
	#frame = 0;
	#reasoning = ""; // as shown
	#pictures = 0; // as shown
	#announced = 0; // characters of the text, and when
	#announcedAt = 0;

	/** `actions` are called by buttons: `retry`, `code` and, with the results of tools, `results`. */
	constructor(model, reply, round, lane, actions) {
		this.reply = reply;
		this.round = round;
		this.model = model;
		this.body = h("div.body");
		this.thoughts = h("div.thoughts");
		this.reasoning = details("reasoning", "Reasoning", this.thoughts);
		this.reasoning.hidden = true;
		this.tools = new ToolCalls(actions.results);
		this.pictures = h("div");
		this.wait = h("p.wait", "Waiting for the response");
		this.facts = h("p.facts.muted");
		const copy = copyButton("Copy this reply", () => reply.text);
		const retry = button("Retry", "Retry this reply", actions.retry);
		const code = button("Code", "Show the request of this reply as code", actions.code);
		this.actions = h("div.actions", { hidden: true }, copy, retry, code);
		this.markdown = new Markdown(this.body);
		const parts = [this.reasoning, this.wait, this.body, this.tools.node, this.pictures];
		const label = { ariaLabel: model };
		const turn = h("article.turn.model", label, h("p.name", model), ...parts, this.facts);
		turn.append(this.actions);
		this.node = show(turn, round.cell(lane));
	}

	changed = () => {
		this.#frame ||= requestAnimationFrame(() => {
			this.#frame = 0;
			this.draw();
		});
	};

	draw() {
		const { text, reasoning, calls, first, total } = this.reply;
		if (first !== null || total !== null) this.wait.remove();
		if (reasoning !== this.#reasoning) {
			this.reasoning.hidden = false;
			this.thoughts.textContent = this.#reasoning = reasoning;
		}
		this.markdown.show(text);
		this.tools.show(calls);
		this.#drawPictures();
		follow();
		if (!this.round.isCompared && performance.now() - this.#announcedAt > ANNOUNCE_INTERVAL)
			this.#announce(text.lastIndexOf(" "));
	}

	#drawPictures() {
		const { pictures } = this.reply;
		for (const src of pictures.slice(this.#pictures))
			this.pictures.append(h("img", { src, alt: "Image of the reply" }));
		this.#pictures = pictures.length;
	}

	/** Announce the new text up to `end`. */
	#announce(end) {
		if (end > this.#announced) announce(this.reply.text.slice(this.#announced, end));
		this.#announced = Math.max(end, this.#announced);
		this.#announcedAt = performance.now();
	}

	/** Show the complete reply. `options` are those of its request; none for a stored reply. */
	end(options) {
		cancelAnimationFrame(this.#frame);
		const { problem, raw } = this.reply;
		if (options) this.reply.facts = facts(this.reply, options, this.round.isCompared);
		else this.#announced = Infinity;
		this.draw();
		this.markdown.end();
		if (options) this.#announceEnd();
		this.#note();
		this.actions.hidden = false;
		this.tools.ask(this.reply.openCalls);
		if (problem) this.tools.node.before(card(problem));
		this.facts.textContent = this.reply.facts;
		if (raw.length) this.node.append(rawEvents(raw));
		follow();
	}

	#announceEnd() {
		const { text, problem, stopped } = this.reply;
		const who = this.round.isCompared ? `${this.model}: ` : "";
		if (!who) this.#announce(text.length);
		const end = problem ? `Error: ${problem.message}` : stopped ? "Stopped." : "Reply complete.";
		announce(who + end);
	}

	#note() {
		const { first, problem, stopped } = this.reply;
		if (first !== null || problem) return;
		const note = stopped ? "Stopped before any content." : "The reply is empty.";
		this.body.append(h("p.muted", note));
	}
}

const details = (kind, title, inner) => h(`details.${kind}`, h("summary", title), inner);

function rawEvents(raw) {
	const node = details("raw", "Raw events");
	node.ontoggle = () => {
		if (node.lastChild.matches("summary"))
			node.append(codeBlock(raw.join("\n\n"), `${raw.length} events`));
	};
	return node;
}
