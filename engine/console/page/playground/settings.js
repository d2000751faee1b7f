import { check } from "./call.js";
import { at, h } from "./dom.js";
import { Problem, card } from "./problem.js";

/* The token and what goes with each request. The token is in memory; in the tab's own storage only
   if that was asked for; never in an address. */

const KEPT = "modelway.token";
const PASTE = "Paste the one you were given: it has no spaces and no letters beyond ASCII.";
const OTHER = "\0other";

let known = null; // what the gateway said of the token
let asked = ""; // the token that it was said of

const token = at("token");
const model = at("model");
const format = at("format");
const panel = at("settings");

/** Whether there is a token that the gateway takes; asks when it has not been asked yet. */
export async function ready() {
	return (known !== null && asked === token.value.trim()) || learn();
}

async function learn() {
	const tell = (told) => at("token-said").replaceChildren(told);
	const secret = token.value.trim();
	known = null;
	model.disabled = format.disabled = true;
	tell(h("p.muted", "Checking…"));
	try {
		if (!/^[\x21-\x7e]+$/.test(secret)) throw new Problem("A token is needed.", { advice: PASTE });
		known = await check(secret);
	} catch (error) {
		if (!(error instanceof Problem)) throw error;
		tell(card(error));
	}
	token.ariaInvalid = String(!known);
	asked = secret;
	if (known) {
		keep();
		tell(h("p.good", words(known)));
		list();
	} else {
		open(true);
		token.focus();
	}
	return known !== null;
}

function words({ token: { name, expires }, models }) {
	const until = expires ? `, until ${new Date(expires * 1000).toLocaleDateString()}` : "";
	return `✓ The token works: ${name}, ${models.length} models${until}.`;
}

function keep() {
	if (at("keep").checked && known) sessionStorage.setItem(KEPT, asked);
	else sessionStorage.removeItem(KEPT);
}

/** The models in the list, those that some format here serves. */
function list() {
	const before = model.value;
	const options = known.models
		.filter(({ formats }) => formats.length)
		.map(({ id, title }) => h("option", { value: id }, title === id ? id : `${id} (${title})`));
	model.replaceChildren(...options, h("option", { value: OTHER }, "Another name…"));
	model.value = before;
	if (model.selectedIndex < 0) model.selectedIndex = 0;
	offer();
}

const name = () => (model.value === OTHER ? at("other").value.trim() : model.value);

/** What is known of the model; nothing of a name that is not in the list. */
const entry = () => known.models.find(({ id }) => id === name());

/** The formats that serve the model; the one chosen before if it does. */
function offer() {
	at("other").hidden = model.value !== OTHER;
	const before = format.value;
	const served = entry()?.formats ?? known.formats.map((one) => one.name);
	const options = known.formats.map(({ name, title }) => {
		const disabled = !served.includes(name);
		return h("option", { value: name, disabled }, title + (disabled ? " – not this model's" : ""));
	});
	format.replaceChildren(...options);
	format.value = served.includes(before) ? before : (served[0] ?? "");
	model.disabled = format.disabled = false;
}

const number = ({ value }) => (value === "" ? undefined : Number(value));

/** What is put into the body as it is. */
function extra() {
	try {
		const found = JSON.parse(at("extra").value || "{}");
		if (found?.constructor === Object) return found;
	} catch ({ message }) {
		throw new Problem(`“More of the request” is no JSON: ${message}`);
	}
	throw new Problem("“More of the request” must be a JSON object.");
}

/** What goes with the next request. Throws Problem, in words, for what cannot be sent. */
export function settings() {
	const chosen = known.formats.find((one) => one.name === format.value);
	if (!chosen) throw new Problem("No format here serves this model. Choose another one.");
	if (!name()) throw new Problem("Give the name of a model.");
	if (!panel.checkValidity()) {
		open(true);
		panel.reportValidity();
		throw new Problem("Correct the settings first.");
	}
	return {
		...known,
		token: asked,
		model: name(),
		price: entry()?.price,
		format: chosen,
		system: at("system").value.trim() || undefined,
		temperature: number(at("temperature")),
		maximum: number(at("maximum")),
		stream: (at("stream").checked && chosen.stream !== "") || undefined,
		extra: extra(),
	};
}

function open(is) {
	panel.classList.toggle("open", is);
	at("settings-key").ariaExpanded = String(is);
}

at("settings-key").onclick = () => open(!panel.classList.contains("open"));
panel.onsubmit = (event) => event.preventDefault();
at("check").onclick = async () => (await learn()) && open(false);
token.onkeydown = ({ key }) => {
	if (key === "Enter") at("check").click();
};
at("keep").onchange = keep;
model.onchange = () => {
	offer();
	if (model.value === OTHER) at("other").focus();
};
at("other").oninput = offer;
const kept = sessionStorage.getItem(KEPT);
if (kept) {
	token.value = kept;
	at("keep").checked = true;
	learn();
} else open(true);
