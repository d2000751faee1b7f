import { pathOf, send } from "./call.js";
import { at, h, say } from "./dom.js";
import { attached } from "./images.js";
import { codeBlock } from "./markdown.js";
import { Problem } from "./problem.js";
import { Reply } from "./reply.js";
import { ready, settings } from "./settings.js";
import { Answer, question } from "./transcript.js";

/** What was said: `{role, text, images, node}`. */
let turns = [];
let running = null; // what stops the reply under way
let taken = false;
let editing = null;

const draft = at("draft");
const pictures = attached(at("composer"), at("images"), at("file"), tell);

function tell(text) {
	at("composer-said").textContent = text;
}

/** The request as the settings say it, for these turns, and who reads its answer. */
async function request(said, talk) {
	const wire = await import(`./${said.format.name}.js`);
	const known = talk.filter((turn) => turn.text || turn.images.length);
	return { wire, said, format: said.format, body: merge(wire.body(known, said), said.extra) };
}

function merge(body, more) {
	const isPlain = (one) => one !== null && typeof one === "object" && !Array.isArray(one);
	for (const [key, value] of Object.entries(more)) {
		body = {
			...body,
			[key]: isPlain(value) && isPlain(body[key]) ? merge(body[key], value) : value,
		};
	}
	return body;
}

function busy(is) {
	at("send").textContent = is ? "Stop" : "Send";
	at("clear").disabled = is || !turns.length;
}

function cut(from) {
	for (const turn of turns.splice(from)) turn.node.remove();
	at("empty").hidden = turns.length > 0;
}

function ask(text, images) {
	const turn = { role: "user", text, images };
	turn.node = question(turn, () => taken || edit(turn));
	turns.push(turn);
}

function edit(turn) {
	editing = turn;
	draft.value = turn.text;
	pictures.set(turn.images);
	at("editing").hidden = false;
	draft.focus();
}

function forget() {
	editing = null;
	at("editing").hidden = true;
}

/** Ask for a reply to what was said last. */
async function reply() {
	const said = settings();
	const { wire, body } = await request(said, turns);
	running = new AbortController();
	busy(true);
	const turn = { role: "assistant", text: "", images: [] };
	const answer = new Answer(said.model, {
		onRetry: () => alone(() => retry(turn)),
		currency: said.currency,
		price: said.price,
	});
	const made = (answer.reply = new Reply(answer.changed));
	turn.node = answer.node;
	turns.push(turn);
	try {
		await send(wire, pathOf(said.format, said), said.token, body, made, running.signal);
	} catch (error) {
		if (error.name === "AbortError") made.stopped = true;
		else
			made.problem =
				error instanceof Problem ? error : new Problem(`This page failed: ${error.message}`);
	}
	turn.text = made.text;
	made.end();
	answer.end();
	running = null;
	busy(false);
}

async function retry(turn) {
	cut(turns.indexOf(turn));
	await reply();
	draft.focus();
}

/** Do it, or say why it cannot be done. */
async function attempt(what) {
	tell("");
	try {
		await what();
	} catch (error) {
		if (!(error instanceof Problem)) console.error(error);
		tell(error instanceof Problem ? error.message : `This page failed: ${error.message}`);
	}
}

/** The same, but not while another reply is on its way. */
async function alone(what) {
	if (taken) return;
	taken = true;
	await attempt(what);
	taken = false;
}

async function submit() {
	const text = draft.value.trim();
	const images = pictures.get();
	if (!text && !images.length) return;
	if (!(await ready())) return tell("Paste a token under Settings first: it could not be checked.");
	settings(); // what is wrong there is told before anything is sent
	if (editing) cut(turns.indexOf(editing));
	forget();
	draft.value = "";
	pictures.set([]);
	ask(text, images);
	await reply();
}

at("composer").addEventListener("submit", (event) => {
	event.preventDefault();
	if (running) running.abort();
	else alone(submit);
});
draft.addEventListener("keydown", (event) => {
	if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
	event.preventDefault();
	alone(submit);
});
document.addEventListener("keydown", (event) => {
	if (event.key === "Escape" && running && !at("dialog").open) running.abort();
});
at("forget").addEventListener("click", () => {
	forget();
	draft.value = "";
	draft.focus();
});
at("clear").addEventListener("click", () => {
	cut(0);
	forget();
	busy(false);
	say("The conversation is cleared.");
	draft.focus();
});

const LANGUAGES = { curl: "curl", python: "Python", javascript: "JavaScript" };

async function show(language) {
	const said = settings();
	const text = draft.value.trim();
	const images = pictures.get();
	const unsent = text || images.length ? [{ role: "user", text, images }] : [];
	const talk = [...turns, ...unsent];
	const hello = talk.length ? talk : [{ role: "user", text: "Hello!", images }];
	const { program } = await import("./literal.js"); // few ask for it
	const code = program(language, { ...(await request(said, hello)), base: said.base });
	at("program").replaceChildren(codeBlock(code, LANGUAGES[language]));
	for (const key of at("languages").children) {
		key.ariaPressed = String(key.value === language);
	}
}

for (const [value, name] of Object.entries(LANGUAGES)) {
	at("languages").append(
		h("button", { type: "button", className: "small", value, onclick: () => show(value) }, name),
	);
}
at("code").addEventListener("click", () =>
	attempt(async () => {
		if (!(await ready()))
			return tell("Paste a token under Settings first: it could not be checked.");
		await show("curl");
		at("dialog").showModal();
	}),
);
at("close").addEventListener("click", () => at("dialog").close());
