import { announce, at, button, h } from "./dom.js";

/* Earlier conversations, in the IndexedDB of this browser, if the user switched that on. */

const SWITCH = "modelway.history"; // in the local storage; `main.js` reads it too
const NAME = "modelway-playground";
const STORE = "conversations";
const MAX_CONVERSATIONS = 200;
const TITLE_LENGTH = 80; // characters

/** Await a request to the database. */
const result = (request) =>
	new Promise((resolve, reject) => {
		request.onsuccess = () => resolve(request.result);
		request.onerror = () => reject(request.error);
	});

let database = null;

async function store(mode) {
	if (!database) {
		const request = indexedDB.open(NAME, 1);
		request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
		database = await result(request);
		database.onversionchange = () => database.close();
	}
	return database.transaction(STORE, mode).objectStore(STORE);
}

/** All conversations, the latest first. */
async function all() {
	const conversations = await result((await store("readonly")).getAll());
	return conversations.sort((one, other) => other.saved - one.saved);
}

/** Keep a snapshot of a conversation, instead of an earlier one of the same. */
export async function put(snapshot) {
	const { session, rounds } = snapshot;
	if (!rounds.length) return;
	const [{ user }] = rounds;
	const title = (user.text || user.files[0].name).slice(0, TITLE_LENGTH);
	const entry = { id: session.id, saved: Date.now(), title, snapshot };
	await result((await store("readwrite")).put(entry));
	for (const { id } of (await all()).slice(MAX_CONVERSATIONS)) await remove(id);
}

const remove = async (id) => result((await store("readwrite")).delete(id));

function download(conversations) {
	const text = JSON.stringify({ conversations }, null, 2);
	const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
	h("a", { href, download: "modelway-conversations.json" }).click();
	setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

const label = ({ title, saved }) => `${title}, ${new Date(saved).toLocaleString()}`;

/** List the conversations; `open` shows the snapshot of one. */
async function list(open) {
	const conversations = await all();
	const rows = conversations.map((entry) => {
		const use = button(entry.title, `Open ${label(entry)}`, () => {
			at("history").close();
			open(entry.snapshot);
		});
		const time = h("span.muted", new Date(entry.saved).toLocaleString());
		const away = button("Delete", `Delete ${label(entry)}`, async () => {
			await remove(entry.id);
			announce("The conversation is deleted.");
			list(open);
			at("history-close").focus();
		});
		return h("li.row", use, time, away);
	});
	const none = h("li.muted", "No conversation is kept.");
	at("history-list").replaceChildren(...(rows.length ? rows : [none]));
	at("history-export").disabled = at("history-delete").disabled = !rows.length;
	at("history-export").onclick = () => download(conversations);
	at("history-delete").onclick = async () => {
		await result((await store("readwrite")).clear());
		announce("All conversations are deleted.");
		list(open);
		at("history-close").focus();
	};
}

/** Open the dialog. `current` returns the snapshot of the present conversation. */
export async function show(current, open) {
	const keep = at("history-keep");
	keep.checked = localStorage.getItem(SWITCH) === "on";
	keep.onchange = async () => {
		if (!keep.checked) return localStorage.removeItem(SWITCH);
		localStorage.setItem(SWITCH, "on");
		await put(current());
		list(open);
	};
	at("history-close").onclick = () => at("history").close();
	at("history-list").replaceChildren();
	at("history").showModal(); // at once: a second click cannot open it again after it was closed
	try {
		await list(open);
	} catch (error) {
		at("history").close(); // the error is shown in the page
		throw error;
	}
}
