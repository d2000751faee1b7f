/* The nodes of MathML Core. */

const SPACE = "http://www.w3.org/1998/Math/MathML";

/** An element with its children, as in `m("mi", "x")`. */
export function m(name, ...children) {
	const node = document.createElementNS(SPACE, name);
	node.append(...children);
	return node;
}

export const row = (nodes) => (nodes.length === 1 ? nodes[0] : m("mrow", ...nodes));

/** An operator that stretches only if it is a fence. */
export function operator(text, isFence = false) {
	const node = m("mo", text);
	node.setAttribute("stretchy", String(isFence));
	return node;
}

/** Mark a node whose scripts stand above and below it in a displayed formula. */
export const withLimits = (node) => Object.assign(node, { hasLimits: true });

/** A sign above a base, or below it with `munder`. */
export function accent(name, base, sign) {
	const node = m(name, base, m("mo", sign));
	node.setAttribute(name === "mover" ? "accent" : "accentunder", "true");
	return node;
}

/** A space of a width in em. */
export function space(width) {
	const node = m("mspace");
	node.setAttribute("width", `${width}em`);
	return node;
}
