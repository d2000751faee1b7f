import { Combobox } from "./combobox.js";
import { announce, at, button, h } from "./dom.js";
import { Problem } from "./problem.js";

/* The lanes of a conversation: one to four models that are asked side by side, each in its format. */

const MAX_LANES = 4;

let access = null; // what the token may use; null without a valid one
let options = []; // of every combobox
let lanes = [];

class Lane {
	constructor(id, model = "", format = "") {
		this.id = id;
		const suffix = id ? `-${id + 1}` : "";
		const label = id ? `Model ${id + 1}` : "Model";
		this.model = new Combobox(`model${suffix}`, label, () => this.listFormats());
		this.model.value = model;
		this.wanted = format; // the last choice, as long as a model has no such format
		this.format = h("select", { id: `format${suffix}`, disabled: true });
		this.format.onchange = () => (this.wanted = this.format.value);
		this.facts = h("p.muted");
		const remove = id && button("Remove", `Remove ${label}`, () => this.remove());
		const head = h("div.row", h("label", { htmlFor: this.model.input.id }, label), remove);
		const formats = h("label", { htmlFor: this.format.id }, id ? `Format ${id + 1}` : "Format");
		this.node = h("div.lane", h("div.field", head, this.model.node, this.facts));
		this.node.append(h("div.field", formats, this.format));
		this.offer();
	}

	remove() {
		lanes = lanes.filter((lane) => lane !== this);
		this.node.remove();
		show();
		announce("The model is removed.");
		at("add-lane").focus();
	}

	/** Offer the models and formats of the token. */
	offer() {
		if (!access) {
			this.model.disable();
			this.format.disabled = true;
			return;
		}
		this.model.offer(options);
		const others = lanes.map(({ model }) => model.value);
		const free = options.find(({ value }) => !others.includes(value)) ?? options[0];
		if (!this.model.value) this.model.value = free?.value ?? "";
		this.listFormats();
	}

	/** The model in the list; undefined for another name. */
	get entry() {
		return access.models.find(({ id }) => id === this.model.value);
	}

	/** List the formats; the model's are enabled, and the last choice stays if it is one of them. */
	listFormats() {
		const every = access.formats.map(({ name }) => name);
		const { formats: enabled, translated = [] } = this.entry ?? { formats: every };
		const rows = access.formats.map(({ name, title }) => {
			const note = translated.includes(name) ? " – translated" : "";
			return h("option", { value: name, disabled: !enabled.includes(name) }, title + note);
		});
		this.format.replaceChildren(...rows);
		this.format.value = enabled.includes(this.wanted) ? this.wanted : (enabled[0] ?? "");
		this.format.disabled = false;
		this.facts.textContent = this.entry ? noteOf(this.entry) : "";
	}

	/** What a request needs of it, as JSON. Throws Problem for what cannot be asked. */
	choice() {
		const { value } = this.model;
		if (!value) throw new Problem("Enter the name of a model.");
		if (!this.format.value) throw new Problem("No format here serves this model. Choose another.");
		return { lane: this.id, model: value, format: this.format.value };
	}

	snapshot() {
		return { id: this.id, model: this.model.value, format: this.format.value || this.wanted };
	}
}

/** The inputs of a model and its price for a million tokens, as far as they are known. */
function noteOf({ input, price }) {
	const known =
		price && `${price.input} in, ${price.output} out, ${access.currency} per million tokens`;
	return [input?.join(", "), known].filter(Boolean).join(" · ");
}

function show() {
	at("lanes").replaceChildren(...lanes.map(({ node }) => node));
	at("add-lane").hidden = lanes.length >= MAX_LANES;
}

function add(model, format) {
	const ids = lanes.map(({ id }) => id);
	const id = [0, 1, 2, 3].find((number) => !ids.includes(number));
	const lane = new Lane(id, model, format);
	lanes = [...lanes, lane].sort((one, other) => one.id - other.id);
	show();
	return lane;
}

/** Offer what a token may use; nothing with null. */
export function offer(data) {
	access = data;
	options = (data?.models ?? [])
		.filter(({ formats }) => formats.length)
		.map((entry) => ({ value: entry.id, title: entry.title, note: noteOf(entry) }));
	for (const lane of lanes) lane.offer();
}

/** What the lanes ask. Throws Problem. */
export const choices = () => lanes.map((lane) => lane.choice());

/** The entry of a model in the list; undefined for another name. */
export const entryOf = (model) => access?.models.find(({ id }) => id === model);

export const snapshot = () => lanes.map((lane) => lane.snapshot());

/** Replace the lanes by those of a snapshot. */
export function apply(saved = []) {
	lanes = [];
	for (const { model, format } of saved.slice(0, MAX_LANES)) add(model, format);
	if (!lanes.length) add();
}

at("add-lane").onclick = () => {
	const lane = add();
	(access ? lane.model.input : at("token")).focus();
};
