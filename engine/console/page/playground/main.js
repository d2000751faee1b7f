import { send } from "./call.js";
import { announce, at } from "./dom.js";
import { newSession } from "./facts.js";
import { attach, attached } from "./images.js";
import { Problem } from "./problem.js";
import { Reply } from "./reply.js";
import { ready, settings } from "./settings.js";
import { Answer, question } from "./transcript.js";

/** The conversation: `{role, text, images, node}`. */
let turns = [];
let session = newSession();
let running = null; // the AbortController of the current reply
let editing = null; // the turn that is edited

const draft = at("draft");

function show(message) {
	at("composer-error").textContent = message;
}

/** The request for these turns, and the module of its format. */
async function build(options, turns) {
	const wire = await import(`./${options.format.module}.js`);
	const sent = turns.filter(({ text, images }) => text || images.length);
	const body = wire.body(sent, options);
	for (const [key, value] of Object.entries(options.extra)) {
		body[key] = value?.constructor === Object ? { ...body[key], ...value } : value;
	}
	return { wire, options, body };
}

function run(controller) {
	running = controller;
	at("send").textContent = controller ? "Stop" : "Send";
	at("clear").disabled = controller !== null || !turns.length;
}

function removeFrom(index) {
	for (const turn of turns.splice(index)) turn.node.remove();
	if (!turns.includes(editing)) stopEditing();
	at("empty").hidden = turns.length > 0;
}

function edit(turn) {
	editing = turn;
	draft.value = turn.text;
	attach(turn.images);
	at("editing").hidden = false;
	draft.focus();
}

function stopEditing() {
	editing = null;
	at("editing").hidden = true;
}

function clearDraft() {
	stopEditing();
	draft.value = "";
	attach([]);
}

/** Request a reply to the conversation. */
async function ask() {
	const request = await build({ ...settings(), session }, turns);
	const retry = () => {
		removeFrom(turns.indexOf(turn));
		return ask();
	};
	const turn = { role: "assistant", text: "", images: [] };
	const answer = new Answer(request.options, () => exclusive(retry));
	const reply = (answer.reply = new Reply(answer.changed));
	turn.node = answer.node;
	turns.push(turn);
	try {
		await send(request, reply, running.signal);
	} catch (error) {
		reply.stopped = error.name === "AbortError";
		if (!reply.stopped) reply.problem = asProblem(error);
	}
	turn.text = reply.text;
	reply.end();
	answer.end();
}

function asProblem(error) {
	if (error instanceof Problem) return error;
	console.error(error);
	return new Problem(`This page failed: ${error.message}`);
}

/** Run an action with a valid token, and show its error. */
async function guarded(action) {
	show("");
	try {
		if (await ready()) await action();
		else show("Enter a valid token under Settings first.");
	} catch (error) {
		show(asProblem(error).message);
	}
}

/** The same, unless a reply is under way. */
async function exclusive(action) {
	if (running) return;
	run(new AbortController());
	await guarded(action);
	run(null);
}

async function submit() {
	const text = draft.value.trim();
	const images = attached();
	if (!text && !images.length) return;
	settings(); // throws before anything is sent
	if (editing) removeFrom(turns.indexOf(editing));
	clearDraft();
	const turn = { role: "user", text, images };
	turn.node = question(turn, () => running || edit(turn));
	turns.push(turn);
	await ask();
}

at("composer").onsubmit = (event) => {
	event.preventDefault();
	if (running) running.abort();
	else exclusive(submit);
};
draft.onkeydown = (event) => {
	if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
	event.preventDefault();
	exclusive(submit);
};
document.onkeydown = ({ key }) => {
	if (key === "Escape" && !at("dialog").open) running?.abort();
};
at("cancel").onclick = () => {
	clearDraft();
	draft.focus();
};
at("clear").onclick = () => {
	removeFrom(0);
	session = newSession();
	run(null);
	announce("The conversation is cleared.");
	draft.focus();
};

at("code").onclick = () =>
	guarded(async () => {
		const text = draft.value.trim() || (turns.length ? "" : "Hello!");
		const draftTurn = { role: "user", text, images: attached() };
		const { open } = await import("./program.js"); // loaded at first use
		open(await build(settings(), [...turns, draftTurn]));
	});
