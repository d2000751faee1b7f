import { attach, attached, refusals } from "./attachments.js";
import { send } from "./call.js";
import { Conversation } from "./conversation.js";
import { announce, at } from "./dom.js";
import { Problem, asProblem } from "./problem.js";
import { Reply } from "./reply.js";
import { build } from "./request.js";
import * as tab from "./snapshot.js";
import * as settings from "./settings.js";
import { Answer, Round } from "./transcript.js";

let conversation = new Conversation();
let running = null; // the AbortController of the current replies
let editing = null; // the round whose message is edited

const draft = at("draft");

const show = (message) => (at("composer-error").textContent = message);

function run(controller) {
	running = controller;
	at("send").textContent = controller ? "Stop" : "Send";
	at("clear").disabled = controller !== null || !conversation.rounds.length;
}

const snapshot = () => ({ ...conversation.snapshot(), settings: settings.snapshot() });

/** Keep the page as it is in the session of the tab. */
function save() {
	tab.save({ ...snapshot(), draft: draft.value, draftFiles: attached() });
}

/** Keep the conversation in the history, if that is on. */
async function remember() {
	if (localStorage.getItem("modelway.history") !== "on") return;
	const { put } = await import("./history.js");
	await put(snapshot());
}

function removed() {
	if (!conversation.rounds.includes(editing)) stopEditing();
	at("empty").hidden = conversation.rounds.length > 0;
}

function edit(round) {
	editing = round;
	draft.value = round.user.text;
	attach(round.user.files);
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

/** The settings of a lane now; those of the turn if the lane was removed. */
const current = ({ choice }) =>
	settings.settings().find(({ lane }) => lane === choice.lane) ?? choice;

function showRound(round) {
	round.view = new Round(round.user, () => running || edit(round));
}

function showTurn(round, turn) {
	const { lane, model } = turn.choice;
	const cell = round.cells.get(lane);
	const again = (prepare) => () =>
		exclusive(() => {
			const choice = current(turn); // throws before anything is removed
			prepare();
			return ask(round, choice);
		});
	turn.view = new Answer(model, turn.reply, round.view, lane, {
		retry: again(() => cut(round, lane, turn)),
		results: (outputs) =>
			again(() => {
				turn.reply.answer(outputs);
				cut(round, lane, cell[cell.indexOf(turn) + 1]);
			})(),
		code: () => guarded(() => showCode([[turn.choice, conversation.before(lane, turn)]])),
	});
}

/** Remove a turn of a lane and all that follows. */
function cut(round, lane, turn) {
	if (turn) conversation.cutTurn(round, lane, turn);
	else conversation.cut(conversation.rounds.indexOf(round) + 1);
	removed();
}

/** Request a reply to a round. */
async function ask(round, choice) {
	const { lane } = choice;
	const request = await build(choice, conversation.before(lane));
	const turn = { choice, reply: new Reply() };
	if (!round.cells.has(lane)) round.cells.set(lane, []);
	round.cells.get(lane).push(turn);
	showTurn(round, turn);
	const { reply } = turn;
	reply.changed = turn.view.changed;
	try {
		await send(request, conversation.session.id, reply, running.signal);
	} catch (error) {
		reply.stopped = error.name === "AbortError";
		if (!reply.stopped) reply.problem = asProblem(error);
	}
	reply.end();
	turn.view.end({ ...request.options, session: conversation.session });
	save();
	await remember();
}

/** Run an action, and show its error. */
async function attempt(action) {
	show("");
	try {
		await action();
	} catch (error) {
		show(asProblem(error).message);
	}
}

/** The same with a valid token. */
const guarded = (action) =>
	attempt(async () => {
		if (await settings.ready()) await action();
		else show("Enter a valid token under Settings first.");
	});

/** The same, unless a reply is under way. */
async function exclusive(action) {
	if (running) return;
	run(new AbortController());
	await guarded(action);
	run(null);
}

async function submit() {
	const user = { text: draft.value.trim(), files: attached() };
	if (!user.text && !user.files.length) return;
	const choices = settings.settings(); // throws before anything is sent
	const [refusal] = await refusals(user.files);
	if (refusal) throw new Problem(refusal);
	if (editing) conversation.cut(conversation.rounds.indexOf(editing));
	removed();
	clearDraft();
	const round = conversation.add(user);
	showRound(round);
	for (const { lane } of choices) round.view.cell(lane);
	const results = await Promise.allSettled(choices.map((choice) => ask(round, choice)));
	for (const { reason } of results) if (reason) throw reason;
}

/** Show requests as code: pairs of a choice and the turns that its model reads. */
async function showCode(pairs) {
	const requests = await Promise.all(pairs.map((pair) => build(...pair)));
	const { open } = await import("./program.js");
	open(requests);
}

/** The requests that "Send" would send; without a draft, those that were sent last. */
function lastRequests() {
	const last = conversation.last();
	const text = draft.value.trim() || (last.length ? "" : "Hello!");
	if (!text && !attached().length) return last;
	const user = { role: "user", text, files: attached() };
	const choices = settings.settings();
	return choices.map((choice) => [choice, [...conversation.before(choice.lane), user]]);
}

/** Replace the conversation by another, and show it. */
function open(next) {
	conversation.cut(0);
	conversation = next;
	for (const round of conversation.rounds) {
		showRound(round);
		for (const turn of [...round.cells.values()].flat()) {
			showTurn(round, turn);
			turn.view.end();
		}
	}
	removed();
	run(null);
}

/** Open a conversation of the history, with its settings. */
function openStored(stored) {
	if (running) throw new Problem("Stop the reply first.");
	open(Conversation.from(stored));
	settings.apply(stored.settings);
	save();
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
	if (key === "Escape" && !document.querySelector("dialog[open]")) running?.abort();
};
at("cancel").onclick = () => {
	clearDraft();
	draft.focus();
};
at("clear").onclick = () => {
	open(new Conversation());
	save();
	announce("The conversation is cleared.");
	draft.focus();
};
at("history-open").onclick = () =>
	attempt(async () => {
		const history = await import("./history.js");
		await history.show(snapshot, openStored);
	});
at("presets").ontoggle = () => import("./presets.js");
at("code").onclick = () => guarded(() => showCode(lastRequests()));
addEventListener("pagehide", save);

const saved = tab.load();
settings.apply(saved?.settings);
if (saved) {
	open(Conversation.from(saved));
	draft.value = saved.draft;
	attach(saved.draftFiles);
}
const { model } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
if (model) {
	settings.choose(model);
	history.replaceState(null, "", location.pathname); // a reload keeps what is chosen then
}
settings.start();
