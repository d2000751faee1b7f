import { showSession } from "../session.js";
import { check } from "./call.js";
import { at, h } from "./dom.js";
import { Problem, card } from "./problem.js";

/* The token and the options of each request. The token is in memory, in the tab's session storage
   only if "Keep" is checked, and never in a URL. */

const STORAGE_KEY = "modelway.token";
const ADVICE = "Paste your token: ASCII characters without spaces.";
const OTHER = "\0other";

let access = null; // what the token may use
let checked = ""; // the token of `access`, "" for the session
let person = null; // who is signed in

const token = at("token");
const model = at("model");
const format = at("format");
const panel = at("settings");

/** Whether the token is valid; a new token is checked first. */
export async function ready() {
	return (access !== null && checked === token.value.trim()) || checkToken();
}

async function checkToken() {
	const show = (node) => at("token-status").replaceChildren(node);
	const secret = token.value.trim();
	access = null;
	model.disabled = format.disabled = true;
	show(h("p.muted", "Checking…"));
	try {
		if (!(person && !secret) && !/^[\x21-\x7e]+$/.test(secret)) {
			throw new Problem("A token is needed.", { advice: ADVICE });
		}
		access = await check(secret);
	} catch (error) {
		if (!(error instanceof Problem)) throw error;
		show(card(error));
	}
	token.ariaInvalid = String(!access);
	checked = secret;
	if (access) {
		store();
		show(h("p.good", summary(access)));
		listModels();
	} else {
		open(true);
		token.focus();
	}
	return access !== null;
}

function summary({ token: { name, expires }, models }) {
	const until = expires ? `, until ${new Date(expires * 1000).toLocaleDateString()}` : "";
	const words = checked ? "The token is valid" : "The session is used";
	return `✓ ${words}: ${name}, ${models.length} models${until}.`;
}

function store() {
	if (at("keep").checked && access && checked) sessionStorage.setItem(STORAGE_KEY, checked);
	else sessionStorage.removeItem(STORAGE_KEY);
}

/** List the models that have a format. */
function listModels() {
	const before = model.value;
	const options = access.models
		.filter(({ formats }) => formats.length)
		.map(({ id, title }) => h("option", { value: id }, title === id ? id : `${id} (${title})`));
	model.replaceChildren(...options, h("option", { value: OTHER }, "Another name…"));
	model.value = before;
	if (model.selectedIndex < 0) model.selectedIndex = 0;
	listFormats();
}

const name = () => (model.value === OTHER ? at("other").value.trim() : model.value);

/** The model in the list; undefined for another name. */
const entry = () => access.models.find(({ id }) => id === name());

/** List the formats; the model's are enabled, and the last choice stays if it is one of them. */
function listFormats() {
	at("other").hidden = model.value !== OTHER;
	const before = format.value;
	const every = access.formats.map(({ name }) => name);
	const { formats: enabled, translated = [] } = entry() ?? { formats: every };
	const options = access.formats.map(({ name, title }) => {
		const note = translated.includes(name) ? " – translated" : "";
		return h("option", { value: name, disabled: !enabled.includes(name) }, title + note);
	});
	format.replaceChildren(...options);
	format.value = enabled.includes(before) ? before : (enabled[0] ?? "");
	model.disabled = format.disabled = false;
}

const number = ({ value }) => (value === "" ? undefined : Number(value));

/** The JSON that is merged into the body. */
function extra() {
	try {
		const object = JSON.parse(at("extra").value || "{}");
		if (object?.constructor === Object) return object;
	} catch ({ message }) {
		throw new Problem(`“More of the request” is not JSON: ${message}`);
	}
	throw new Problem("“More of the request” must be a JSON object.");
}

/** The options of the next request. Throws Problem for what cannot be sent. */
export function settings() {
	const choice = access.formats.find(({ name }) => name === format.value);
	if (!choice) throw new Problem("No format here serves this model. Choose another model.");
	if (!name()) throw new Problem("Enter the name of a model.");
	if (!panel.checkValidity()) {
		open(true);
		panel.reportValidity();
		throw new Problem("Correct the settings first.");
	}
	return {
		...access,
		token: checked,
		model: name(),
		price: entry()?.price,
		format: choice,
		system: at("system").value.trim() || undefined,
		temperature: number(at("temperature")),
		maximum: number(at("maximum")),
		stream: (at("stream").checked && choice.stream !== "") || undefined,
		extra: extra(),
	};
}

function open(isOpen) {
	panel.classList.toggle("open", isOpen);
	at("settings-toggle").ariaExpanded = String(isOpen);
}

at("settings-toggle").onclick = () => open(!panel.classList.contains("open"));
panel.onsubmit = (event) => event.preventDefault();
at("check").onclick = async () => (await checkToken()) && open(false);
token.onkeydown = ({ key }) => {
	if (key === "Enter") at("check").click();
};
at("keep").onchange = store;
model.onchange = () => {
	listFormats();
	if (model.value === OTHER) at("other").focus();
};
at("other").oninput = listFormats;

async function start() {
	const stored = sessionStorage.getItem(STORAGE_KEY);
	if (stored) {
		token.value = stored;
		at("keep").checked = true;
	}
	person = await showSession(at("session"));
	if (stored || person) await checkToken();
	else open(true);
}

start();
