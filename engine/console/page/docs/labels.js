/* Names and keyboard access that Swagger UI leaves out (WCAG 2.2: 1.3.1, 2.1.1, 4.1.2). */

const operationOf = (node) => node.closest(".operation")?.id ?? "";

/** The attributes of elements that have none of their own. */
const RULES = [
	[".body-param__text", () => ({ ariaLabel: "Request body" })],
	[".examples-select-element", () => ({ ariaLabel: "Example" })],
	[".content-type", () => ({ ariaLabel: "Media type" })],
	[".parameters-col_description select", () => ({ ariaLabel: "Value" })],
	[".responses-table[role=region]", (node) => ({ ariaLabel: `Responses, ${operationOf(node)}` })],
	["pre.microlight, .highlight-code > pre, .curl", () => ({ tabIndex: 0 })],
	[".model-box", () => ({ tabIndex: 0 })],
];

function give(root) {
	for (const [selector, attributes] of RULES) {
		for (const node of root.querySelectorAll(selector)) {
			for (const [name, value] of Object.entries(attributes(node))) {
				const isMissing = name === "tabIndex" ? node.tabIndex < 0 : !node[name];
				if (isMissing) node[name] = value;
			}
		}
	}
}

/** Give them to all that Swagger UI shows in an element, now and later. */
export function label(root) {
	let frame = 0;
	const observer = new MutationObserver(() => {
		frame ||= requestAnimationFrame(() => {
			frame = 0;
			give(root);
		});
	});
	observer.observe(root, { childList: true, subtree: true });
	give(root);
}
