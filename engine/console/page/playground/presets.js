import { announce, at, button, h } from "./dom.js";
import { apply, snapshot } from "./settings.js";

/* Settings under names, in the local storage of this browser. The token is not part of them. */

const KEY = "modelway.presets";
const MAX_PRESETS = 50;

function load() {
	try {
		const presets = JSON.parse(localStorage.getItem(KEY));
		return Array.isArray(presets) ? presets : [];
	} catch {
		return [];
	}
}

function store(presets) {
	localStorage.setItem(KEY, JSON.stringify(presets.slice(0, MAX_PRESETS)));
	show();
}

const without = (name) => load().filter((preset) => preset.name !== name);

/** List the presets. */
export function show() {
	const rows = load().map(({ name, settings }) => {
		const use = button(name, `Use the preset ${name}`, () => {
			apply(settings);
			announce(`The preset ${name} is used.`);
		});
		const remove = button("✕", `Delete the preset ${name}`, () => {
			store(without(name));
			at("preset-name").focus();
		});
		return h("li.row", use, remove);
	});
	at("preset-list").replaceChildren(...rows);
}

function save() {
	const name = at("preset-name").value.trim();
	if (!name) return at("preset-name").focus();
	const presets = [...without(name), { name, settings: snapshot() }];
	presets.sort((one, other) => one.name.localeCompare(other.name));
	store(presets);
	at("preset-name").value = "";
	announce(`The preset ${name} is saved.`);
}

at("preset-save").onclick = save;
at("preset-name").onkeydown = (event) => {
	if (event.key !== "Enter") return;
	event.preventDefault();
	save();
};
show();
