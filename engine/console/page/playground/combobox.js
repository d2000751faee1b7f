import { h } from "./dom.js";

const MAX_OPTIONS = 50;

/**
 * An editable combobox with a list: any text is a value, and the list shows the options that have
 * all its words (ARIA Authoring Practices, "Editable Combobox With List Autocomplete"). An option is
 * `{value, title, note}`; `changed` is called when the value has changed.
 */
export class Combobox {
	#options = [];
	#matches = [];
	#active = -1; // the index of the active option
	#typed = false; // whether the text filters the list: not when it is opened at a value

	constructor(id, label, changed) {
		this.changed = changed;
		this.list = h("ul", { id: `${id}-options`, role: "listbox", ariaLabel: label });
		this.note = h("p.muted", { role: "status" });
		this.popup = h("div.popup", { hidden: true }, this.list, this.note);
		const input = { id, type: "text", role: "combobox", ariaExpanded: "false", disabled: true };
		this.input = h("input", { ...input, ariaAutoComplete: "list", autocomplete: "off" });
		this.input.setAttribute("aria-controls", this.list.id);
		this.input.placeholder = "Check the token first";
		this.input.onkeydown = (event) => this.#press(event);
		this.input.oninput = () => this.#type();
		this.input.onclick = () => this.#open();
		this.input.onblur = () => this.#close();
		this.popup.onpointerdown = (event) => event.preventDefault(); // the field keeps the focus
		this.node = h("div.combobox", this.input, this.popup);
	}

	get value() {
		return this.input.value.trim();
	}

	set value(text) {
		this.input.value = text;
	}

	/** Set the options; the field is enabled. */
	offer(options) {
		this.#options = options.map((option) => {
			const text = `${option.value} ${option.title} ${option.note}`.toLowerCase();
			return { ...option, text };
		});
		this.input.disabled = false;
		this.input.placeholder = "Search, or the name of a model";
	}

	disable() {
		this.input.disabled = true;
		this.#close();
	}

	#type() {
		this.#typed = true;
		this.#open();
		this.changed();
	}

	#open() {
		if (this.input.disabled || document.activeElement !== this.input) return;
		const words = this.#typed ? this.value.toLowerCase().split(/\s+/) : [];
		const all = this.#options.filter(({ text }) => words.every((word) => text.includes(word)));
		this.#matches = all.slice(0, MAX_OPTIONS);
		this.list.replaceChildren(...this.#matches.map((option, n) => this.#row(option, n)));
		this.list.hidden = !all.length;
		this.note.textContent = summary(all.length);
		this.popup.hidden = false;
		this.input.ariaExpanded = "true";
		this.#activate(this.#matches.findIndex(({ value }) => value === this.value));
	}

	#row({ value, title, note }, n) {
		const detail = [title === value ? "" : title, note].filter(Boolean).join(" · ");
		const id = `${this.list.id}-${n}`;
		const row = h("li", { id, role: "option", ariaSelected: "false" }, h("span", value));
		if (detail) row.append(" ", h("span.muted", detail));
		row.onclick = () => this.#select(n);
		return row;
	}

	#close() {
		this.popup.hidden = true;
		this.#typed = false;
		this.input.ariaExpanded = "false";
		this.#activate(-1);
	}

	#activate(index) {
		this.#active = index;
		for (const [n, row] of [...this.list.children].entries())
			row.ariaSelected = String(n === index);
		const row = this.list.children[index];
		if (row) this.input.setAttribute("aria-activedescendant", row.id);
		else this.input.removeAttribute("aria-activedescendant");
		row?.scrollIntoView({ block: "nearest" });
	}

	#select(index) {
		this.input.value = this.#matches[index].value;
		this.#close();
		this.changed();
	}

	#press(event) {
		const isOpen = !this.popup.hidden;
		const { key, altKey } = event;
		if (event.isComposing) return;
		if (key === "ArrowDown" || key === "ArrowUp") {
			if (!isOpen) this.#open();
			if (!altKey) this.#move(key === "ArrowDown" ? 1 : -1, isOpen);
		} else if (key === "Enter" && isOpen && this.#active >= 0) this.#select(this.#active);
		else if (key === "Escape" && isOpen) this.#close();
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	/** Move to the next option, around the end; a list that was closed shows its value first. */
	#move(step, wasOpen) {
		const count = this.#matches.length;
		if (!count || (!wasOpen && this.#active >= 0)) return;
		const from = this.#active < 0 && step < 0 ? 0 : this.#active;
		this.#activate((from + step + count) % count);
	}
}

function summary(count) {
	if (!count) return "No listed model has these words. The text is used as the name.";
	if (count > MAX_OPTIONS) return `The first ${MAX_OPTIONS} of ${count}: type more of the name.`;
	return `${count} ${count === 1 ? "model" : "models"}`;
}
