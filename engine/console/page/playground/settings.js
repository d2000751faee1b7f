import { check } from "./call.js";
import { at, h } from "./dom.js";
import { Problem } from "./problem.js";
import { card } from "./transcript.js";

/* The token and what goes with each request. The token is in memory; in the tab's own storage only
   if that was asked for; never in an address. */

const KEPT = "modelway.token";
const OTHER = "\0other";

let known = null; // what the gateway said of the token
let asked = ""; // the token that it was said of

const token = at("token");
const model = at("model");
const format = at("format");

/** Whether there is a token that the gateway takes; asks when it has not been asked yet. */
export async function ready() {
	return (known !== null && asked === token.value.trim()) || learn();
}

async function learn() {
	const said = at("token-said");
	const secret = token.value.trim();
	known = null;
	if (!secret) {
		said.replaceChildren(
			h("p", { className: "muted" }, "Paste the token that the platform gave you."),
		);
		open(true);
		token.focus();
		return false;
	}
	said.replaceChildren(h("p", { className: "muted" }, "Checking…"));
	try {
		if (!/^[\x21-\x7e]+$/.test(secret))
			throw new Problem("A token has no spaces and no letters beyond ASCII.", { status: 401 });
		known = await check(secret);
	} catch (error) {
		if (!(error instanceof Problem)) throw error;
		said.replaceChildren(card(error));
		token.ariaInvalid = "true";
		open(true);
		return false;
	}
	asked = secret;
	token.ariaInvalid = "false";
	said.replaceChildren(h("p", { className: "good" }, words(known)));
	keep();
	list();
	return true;
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
	const served = known.models.filter((one) => one.formats.length);
	const options = served.map(({ id, title }) =>
		h("option", { value: id }, title === id ? id : `${id} (${title})`),
	);
	model.replaceChildren(...options, h("option", { value: OTHER }, "Another name…"));
	if ([...model.options].some((one) => one.value === before)) model.value = before;
	model.disabled = false;
	offer();
}

function name() {
	return model.value === OTHER ? at("other").value.trim() : model.value;
}

/** What is known of the model; nothing of a name that is not in the list. */
const entry = () => known.models.find((one) => one.id === name());

/** The formats that serve the model; the one chosen before if it does. */
function offer() {
	at("other").hidden = model.value !== OTHER;
	const before = format.value;
	const served = entry()?.formats ?? known.formats.map((one) => one.name);
	format.replaceChildren(
		...known.formats.map((one) => {
			const off = !served.includes(one.name);
			return h(
				"option",
				{ value: one.name, disabled: off },
				one.title + (off ? " – not this model's" : ""),
			);
		}),
	);
	format.value = served.includes(before) ? before : (served[0] ?? "");
	format.disabled = false;
}

function number(id, words) {
	const field = at(id);
	if (!field.validity.valid)
		throw new Problem(
			`${words} must be ${id === "maximum" ? "a whole number from 1" : "a number from 0 to 2"}.`,
		);
	return field.value === "" ? undefined : Number(field.value);
}

function extra() {
	const text = at("extra").value.trim();
	at("extra-said").textContent = "";
	if (!text) return {};
	try {
		const found = JSON.parse(text);
		if (found !== null && typeof found === "object" && !Array.isArray(found)) return found;
	} catch (error) {
		at("extra-said").textContent = error.message;
	}
	throw new Problem("“More of the request” must be a JSON object.");
}

/** What goes with the next request. Throws Problem, in words, for what cannot be sent. */
export function settings() {
	const chosen = known.formats.find((one) => one.name === format.value);
	if (!chosen) throw new Problem("No format here serves this model. Choose another one.");
	if (!name()) throw new Problem("Give the name of a model.");
	return {
		token: asked,
		base: known.base,
		currency: known.currency,
		model: name(),
		price: entry()?.price,
		format: chosen,
		system: at("system").value.trim(),
		temperature: number("temperature", "The temperature"),
		maximum: number("maximum", "The maximum of tokens"),
		stream: at("stream").checked && Boolean(chosen.stream),
		extra: extra(),
	};
}

function open(is) {
	at("settings").classList.toggle("open", is);
	at("settings-key").ariaExpanded = String(is);
}

at("settings-key").addEventListener("click", () =>
	open(!at("settings").classList.contains("open")),
);
at("settings").addEventListener("submit", (event) => event.preventDefault());
at("check").addEventListener("click", async () => {
	if ((await learn()) && matchMedia("(max-width: 800px)").matches) open(false);
});
token.addEventListener("keydown", (event) => event.key === "Enter" && at("check").click());
at("keep").addEventListener("change", keep);
model.addEventListener("change", () => {
	offer();
	if (model.value === OTHER) at("other").focus();
});
at("other").addEventListener("input", offer);

const kept = sessionStorage.getItem(KEPT);
if (kept) {
	token.value = kept;
	at("keep").checked = true;
	learn();
}
