import { send } from "./call.js";
import { at, say } from "./dom.js";
import { attach, attached } from "./images.js";
import { Problem } from "./problem.js";
import { Reply } from "./reply.js";
import { ready, settings } from "./settings.js";
import { Answer, question } from "./transcript.js";

/** What was said: `{role, text, images, node}`. */
let turns = [];
let running = null; // what stops the reply under way
let editing = null;

const draft = at("draft");

function tell(words) {
	at("composer-said").textContent = words;
}

/** The request as the settings say it, for these turns, and who reads its answer. */
async function request(said, talk) {
	const wire = await import(`./${said.format.module}.js`);
	const known = talk.filter(({ text, images }) => text || images.length);
	const body = wire.body(known, said);
	for (const [key, value] of Object.entries(said.extra)) {
		body[key] = value?.constructor === Object ? { ...body[key], ...value } : value;
	}
	return { wire, said, body };
}

function run(one) {
	running = one;
	at("send").textContent = one ? "Stop" : "Send";
	at("clear").disabled = one !== null || !turns.length;
}

function cut(from) {
	for (const turn of turns.splice(from)) turn.node.remove();
	if (!turns.includes(editing)) forget();
	at("empty").hidden = turns.length > 0;
}

function edit(turn) {
	editing = turn;
	draft.value = turn.text;
	attach(turn.images);
	at("editing").hidden = false;
	draft.focus();
}

function forget() {
	editing = null;
	at("editing").hidden = true;
}

/** Begin a new message, in place of one that was written or edited. */
function renew() {
	forget();
	draft.value = "";
	attach([]);
}

/** Ask for a reply to what was said last. */
async function reply() {
	const made = await request(settings(), turns);
	const retry = () => {
		cut(turns.indexOf(turn));
		return reply();
	};
	const turn = { role: "assistant", text: "", images: [] };
	const answer = new Answer(made.said, () => alone(retry));
	const got = (answer.reply = new Reply(answer.changed));
	turn.node = answer.node;
	turns.push(turn);
	try {
		await send(made, got, running.signal);
	} catch (error) {
		got.stopped = error.name === "AbortError";
		if (!got.stopped) got.problem = asProblem(error);
	}
	turn.text = got.text;
	got.end();
	answer.end();
}

function asProblem(error) {
	if (error instanceof Problem) return error;
	console.error(error);
	return new Problem(`This page failed: ${error.message}`);
}

/** Do it, or say why it cannot be done. */
async function attempt(what) {
	tell("");
	try {
		if (await ready()) await what();
		else tell("Paste a token under Settings first: it could not be checked.");
	} catch (error) {
		tell(asProblem(error).message);
	}
}

/** The same, but not while another reply is on its way. */
async function alone(what) {
	if (running) return;
	run(new AbortController());
	await attempt(what);
	run(null);
}

async function submit() {
	const text = draft.value.trim();
	const images = attached();
	if (!text && !images.length) return;
	settings(); // what is wrong there is told before anything is sent
	if (editing) cut(turns.indexOf(editing));
	renew();
	const turn = { role: "user", text, images };
	turn.node = question(turn, () => running || edit(turn));
	turns.push(turn);
	await reply();
}

at("composer").onsubmit = (event) => {
	event.preventDefault();
	if (running) running.abort();
	else alone(submit);
};
draft.onkeydown = (event) => {
	if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
	event.preventDefault();
	alone(submit);
};
document.onkeydown = ({ key }) => {
	if (key === "Escape" && !at("dialog").open) running?.abort();
};
at("forget").onclick = () => {
	renew();
	draft.focus();
};
at("clear").onclick = () => {
	cut(0);
	run(null);
	say("The conversation is cleared.");
	draft.focus();
};

at("code").onclick = () =>
	attempt(async () => {
		const text = draft.value.trim() || (turns.length ? "" : "Hello!");
		const talk = [...turns, { role: "user", text, images: attached() }];
		const { open } = await import("./program.js"); // few ask for it
		open(await request(settings(), talk));
	});
