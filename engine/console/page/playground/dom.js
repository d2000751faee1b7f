/**
 * An element, as in `h("p.good.big", { title: "…" }, "text", child)`; the properties may be missing.
 * Text always becomes a text node; children that are empty or false are left out.
 */
export function h(kind, ...children) {
	const [name, ...classes] = kind.split(".");
	const made = document.createElement(name);
	made.classList.add(...classes);
	if (children[0]?.constructor === Object) Object.assign(made, children.shift());
	made.append(...children.filter(Boolean));
	return made;
}

export const at = (id) => document.getElementById(id);

/** A small button; the label is for who cannot see what it belongs to. */
export const button = (words, ariaLabel, onclick) =>
	h("button.quiet.small", { type: "button", ariaLabel, onclick }, words);

/** A button that puts a text on the clipboard and says how it went. */
export function copying(label, text) {
	return button("Copy", label, async ({ currentTarget: key }) => {
		const said = await navigator.clipboard?.writeText(text()).then(
			() => "Copied",
			() => "",
		);
		key.textContent = said || "Not allowed"; // the clipboard is for secure pages alone
		say(key.textContent);
		setTimeout(() => (key.textContent = "Copy"), 1500);
	});
}

/** Tell a screen reader, once what it is saying is said. */
export function say(text) {
	at("said").append(h("p", text));
	while (at("said").childElementCount > 6) at("said").firstChild.remove();
}
