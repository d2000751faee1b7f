import { resolveSubtree } from "./resolve.js";

/* What the page changes of Swagger UI: its layout has the operations alone, each has its operationId
   as its id and, if the document has them, programs that call it. */

export const LAYOUT = "ReferenceLayout";

/** The text of an operation in which the search looks. */
export const textOf = (path, { operationId, summary, description, tags }) =>
	[path, operationId, summary, description, ...(tags ?? [])].join(" ").toLowerCase();

/** Leave out the operations that do not have all words. */
function opsFilter(tagged, phrase) {
	const words = phrase.split(/\s+/);
	const has = (entry) => {
		const text = textOf(entry.get("path"), entry.get("operation").toJS());
		return words.every((word) => text.includes(word));
	};
	return tagged
		.map((tag) => tag.update("operations", (operations) => operations.filter(has)))
		.filter((tag) => tag.get("operations").size);
}

/** The plugin for Swagger UI; `secret` returns the token, which no command shows. */
export const pluginFor =
	(secret) =>
	({ React }) => {
		const h = React.createElement;

		function Layout({ getComponent }) {
			const names = ["SvgAssets", "errors", "operations"];
			const parts = names.map((name) => h(getComponent(name, name !== "SvgAssets"), { key: name }));
			const title = h("h2", { className: "hidden" }, "Operations");
			return h(React.Fragment, null, title, h("div", { className: "swagger-ui" }, ...parts));
		}

		/** Programs that call an operation, in one language at a time. */
		function Snippets({ samples, name }) {
			const [index, setIndex] = React.useState(0);
			const button = ({ label }, at) =>
				h(
					"button",
					{ key: label, type: "button", "aria-pressed": at === index, onClick: () => setIndex(at) },
					label,
				);
			const languages = h("div", { role: "group", "aria-label": "Language" }, samples.map(button));
			const { label, source } = samples[index];
			const code = { tabIndex: 0, role: "region", "aria-label": `${label}, ${name}` };
			return h(
				"div",
				{ className: "snippets" },
				h("div", { className: "opblock-section-header" }, h("h4", null, "Call it"), languages),
				h("pre", code, h("code", null, source)),
			);
		}

		const withId = (Original) => (props) => {
			const id = props.operation.get("operationId");
			return h("div", { id, className: "operation" }, h(Original, props));
		};
		const withSnippets = (Original, system) => (props) => {
			const place = ["paths", props.path, props.method, "x-codeSamples"];
			const name = `${props.method} ${props.path}`;
			const samples = system.specSelectors.specJson().getIn(place)?.toJS();
			return h(React.Fragment, null, samples && h(Snippets, { samples, name }), h(Original, props));
		};
		const withoutToken = (Original) => (props) => {
			const hide = (text) =>
				text.replaceAll(secret() || "\0", "YOUR_TOKEN").replace(/^Basic .*/, "Basic YOUR_TOKEN");
			const request = props.request
				.update("url", hide)
				.update("headers", (headers) => headers?.map((value) => hide(String(value))));
			return h(Original, { ...props, request });
		};
		return {
			fn: { opsFilter, resolveSubtree },
			components: { [LAYOUT]: Layout },
			wrapComponents: {
				operation: withId,
				responses: withSnippets,
				curl: withoutToken,
				authorizeOperationBtn: () => () => null, // one token field is for all operations
			},
		};
	};
