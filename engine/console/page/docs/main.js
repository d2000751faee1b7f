import { at, h } from "../playground/dom.js";
import { check } from "../playground/call.js";
import { Problem } from "../playground/problem.js";
import { TokenField } from "../token.js";
import { authorize } from "./authorize.js";
import { label } from "./labels.js";
import { LAYOUT, pluginFor } from "./plugin.js";
import { SideBar } from "./sidebar.js";

/* Swagger UI with the merged document, as it is, and the token field of the other pages. Its requests
   go to the address of this page: the Content-Security-Policy allows no other. */

const PAGES = "console/page/";

let ui = null; // Swagger UI, once the document is shown
const token = new TokenField(load, accept, () => ui && authorize(ui, ""));

/** What the token may use; nothing is known of it where there is no playground. */
async function load(secret) {
	try {
		return (await check(secret)).token;
	} catch (error) {
		if (error instanceof Problem && error.status === 404) return { name: "it is not checked here" };
		throw error;
	}
}

function accept({ name }) {
	if (ui) authorize(ui, token.secret);
	return name;
}

/** Load a file of Swagger UI. The files are large, so the page is painted first. */
function file(tag, properties) {
	const element = h(tag, properties);
	const loaded = new Promise((resolve, reject) => {
		element.onload = resolve;
		element.onerror = () => reject(new Error("a file of Swagger UI could not be loaded"));
	});
	document.querySelector("link[rel=stylesheet]").before(element); // our styles override it
	return loaded;
}

/** Wait until the page is painted; a page in a hidden tab waits until it is visible. */
const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

const showError = (message) =>
	at("content").replaceChildren(h("p.loading", `${message} Reload the page to try again.`));

/** Required parameters show the first example of their schema, which Swagger UI leaves out. */
function giveExamples({ paths, components }) {
	const operations = Object.values(paths).flatMap((item) => [
		...Object.values(item),
		...Object.values(item.additionalOperations ?? {}),
	]);
	const parameters = operations.flatMap((operation) => operation.parameters ?? []);
	for (const parameter of [...parameters, ...Object.values(components.parameters ?? {})]) {
		const { required, example, examples, schema } = parameter;
		const [first] = Array.isArray(schema?.examples) ? schema.examples : [];
		if (required && example === undefined && !examples && first !== undefined)
			parameter.example = first;
	}
}

/** Who is signed in calls with the session; a token needs no cookie. */
function withCredentials(request) {
	request.credentials = token.person && !token.secret ? "same-origin" : "omit";
	return request;
}

async function start() {
	const request = fetch("openapi.json", { credentials: "omit" });
	const [response] = await Promise.all([request, painted()]);
	await Promise.all([
		file("link", { rel: "stylesheet", href: `${PAGES}swagger-ui.css` }),
		file("script", { src: `${PAGES}swagger-ui-bundle.js` }),
	]);
	if (!response.ok) return showError(`The document could not be read (status ${response.status}).`);
	const spec = await response.json();
	spec.servers = [{ url: new URL(".", location.href).href.replace(/\/$/, "") }];
	giveExamples(spec);
	const domNode = h("div");
	at("content").replaceChildren(domNode);
	label(domNode);
	ui = globalThis.SwaggerUIBundle({
		domNode,
		docExpansion: "list",
		displayOperationId: false,
		persistAuthorization: false,
		validatorUrl: null,
		syntaxHighlight: { activated: false }, // tens of thousands of nodes for long examples
		requestInterceptor: withCredentials,
		layout: LAYOUT,
		plugins: [pluginFor(() => token.secret)],
		presets: [globalThis.SwaggerUIBundle.presets.apis],
	});
	ui.specActions.updateJsonSpec(spec); // as `spec` it would be written and parsed as YAML
	if (token.data) authorize(ui, token.secret);
	new SideBar(spec, ui.layoutActions).openAddressed();
}

at("settings").onsubmit = (event) => event.preventDefault();
at("check").onclick = () => token.check();
token.restore();
start().catch((error) => showError(`The reference cannot be shown: ${error.message}.`));
