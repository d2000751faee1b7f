import { TokenField } from "../token.js";
import { check } from "./call.js";
import * as lanes from "./lanes.js";
import { at } from "./dom.js";
import { Problem } from "./problem.js";

/* The settings of the next requests: the token, the models, and the fields that they share. */

const FIELDS = ["system", "temperature", "maximum", "functions", "extra"];

const panel = at("settings");
const token = new TokenField(check, accept, refuse);

export const ready = () => token.ready();

/** What the token may use; null without a valid one. */
export const access = () => token.data;

export const secret = () => token.secret;

function accept(data) {
	lanes.offer(data);
	const { name, expires } = data.token;
	const until = expires ? `, until ${new Date(expires * 1000).toLocaleDateString()}` : "";
	return `${name}, ${data.models.length} models${until}`;
}

function refuse() {
	lanes.offer(null);
	open(true);
	token.input.focus();
}

const number = ({ value }) => (value === "" ? undefined : Number(value));

/** The JSON in a field; throws Problem if it is not of the kind. */
function json(id, title, kind, words) {
	try {
		const value = JSON.parse(at(id).value || (kind === Array ? "[]" : "{}"));
		if (value?.constructor === kind) return value;
	} catch ({ message }) {
		throw new Problem(`“${title}” is not JSON: ${message}`);
	}
	throw new Problem(`“${title}” must be a JSON ${words}.`);
}

/** Functions in any of the usual forms, as `{name, description, parameters}`. */
function functions() {
	const list = json("functions", "Tools", Array, "array");
	return list.map((entry) => {
		const { name, description, ...rest } = entry?.function ?? entry ?? {};
		if (typeof name !== "string" || !name)
			throw new Problem(
				"“Tools” has an entry without a name: write name, description, parameters.",
			);
		const schema = rest.parameters ?? rest.input_schema ?? rest.inputSchema;
		return { name, description, parameters: schema ?? { type: "object", properties: {} } };
	});
}

/** What the next requests are made of, one for each lane, as JSON. Throws Problem. */
export function settings() {
	const choices = lanes.choices();
	if (!panel.checkValidity()) {
		open(true);
		panel.reportValidity();
		throw new Problem("Correct the settings first.");
	}
	const shared = {
		system: at("system").value.trim() || undefined,
		temperature: number(at("temperature")),
		maximum: number(at("maximum")),
		stream: at("stream").checked,
		functions: functions(),
		extra: json("extra", "More of the request", Object, "object"),
	};
	return choices.map((choice) => ({ ...choice, ...shared }));
}

/** The settings without the token, as JSON. */
export function snapshot() {
	const fields = FIELDS.map((id) => [id, at(id).value]);
	const stream = at("stream").checked;
	return { ...Object.fromEntries(fields), stream, lanes: lanes.snapshot() };
}

/** Set the settings to a snapshot; what it does not have is as in a new page. */
export function apply(saved = {}) {
	for (const id of FIELDS) at(id).value = saved[id] ?? "";
	at("stream").checked = saved.stream ?? true;
	lanes.apply(saved.lanes);
	at("more").open = Boolean(at("extra").value || at("functions").value);
}

/** Ask one model only. */
export const choose = (model) => lanes.apply([{ model, format: "" }]);

function open(isOpen) {
	panel.classList.toggle("open", isOpen);
	at("settings-toggle").ariaExpanded = String(isOpen);
}

at("settings-toggle").onclick = () => open(!panel.classList.contains("open"));
panel.onsubmit = (event) => event.preventDefault();
at("check").onclick = async () => (await token.check()) && open(false);

/** Check the stored token or the session, or ask for a token. */
export async function start() {
	if (!(await token.restore())) open(true);
}
