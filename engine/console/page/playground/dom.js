/**
 * An element, as in `h("p.good.big", { title: "…" }, "text", child)`; the properties may be missing.
 * Strings become text nodes; falsy children are left out.
 */
export function h(kind, ...children) {
	const [name, ...classes] = kind.split(".");
	const node = document.createElement(name);
	node.classList.add(...classes);
	if (children[0]?.constructor === Object) Object.assign(node, children.shift());
	node.append(...children.filter(Boolean));
	return node;
}

export const at = (id) => document.getElementById(id);

/** A small button; `ariaLabel` names what it belongs to. */
export const button = (text, ariaLabel, onclick) =>
	h("button.quiet.small", { type: "button", ariaLabel, onclick }, text);

/** A button that copies a text to the clipboard and announces the result. */
export function copyButton(label, text) {
	return button("Copy", label, async ({ currentTarget: target }) => {
		const result = await navigator.clipboard?.writeText(text()).then(
			() => "Copied",
			() => "",
		);
		target.textContent = result || "Not allowed"; // browsers require https or localhost
		announce(target.textContent);
		setTimeout(() => (target.textContent = "Copy"), 1500);
	});
}

/** Announce a text to a screen reader. */
export function announce(text) {
	at("announcements").append(h("p", text));
	while (at("announcements").childElementCount > 6) at("announcements").firstChild.remove();
}
