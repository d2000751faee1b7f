import { at, h } from "../playground/dom.js";
import { check } from "../playground/call.js";
import { Problem } from "../playground/problem.js";
import { TokenField } from "../token.js";
import { authorize } from "./authorize.js";
import { label } from "./labels.js";
import { LAYOUT, pluginFor } from "./plugin.js";
import { Operations, unfold } from "./operations.js";

/* The operations of the merged document, and Swagger UI with the one that is opened: it costs half a
   second of a desktop, so that it is loaded then. Its requests go to the address of this page: the
   Content-Security-Policy allows no other. */

const PAGES = "console/page/";
const FILTER_DELAY_MS = 150; // Swagger UI draws everything anew

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

/** Load a file of Swagger UI. */
function file(tag, properties) {
	const element = h(tag, properties);
	const loaded = new Promise((resolve, reject) => {
		element.onload = resolve;
		element.onerror = () => reject(new Error("a file of Swagger UI could not be loaded"));
	});
	document.querySelector("link[rel=stylesheet]").before(element); // our styles override it
	return loaded;
}

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

/** Show a document with Swagger UI in the place of the list. */
async function draw(spec) {
	await Promise.all([
		file("link", { rel: "stylesheet", href: `${PAGES}swagger-ui.css` }),
		file("script", { src: `${PAGES}swagger-ui-bundle.js` }),
	]);
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
	return ui.layoutActions;
}

async function start() {
	const response = await fetch("openapi.json", { credentials: "omit" });
	if (!response.ok) return showError(`The document could not be read (status ${response.status}).`);
	const spec = await response.json();
	spec.servers = [{ url: new URL(".", location.href).href.replace(/\/$/, "") }];
	let layout = null; // the promise of Swagger UI's actions
	let timer = 0;
	const filter = () => {
		const words = operations.find();
		clearTimeout(timer);
		timer = setTimeout(async () => (await layout)?.updateFilter(words), FILTER_DELAY_MS);
	};
	const open = async (entry) => {
		at("content").ariaBusy = "true";
		layout ??= draw(spec);
		try {
			unfold(await layout, entry);
			filter();
		} catch (error) {
			layout = null; // the next operation that is opened tries again
			fail(error);
		}
		at("content").ariaBusy = "false";
	};
	const operations = new Operations(spec, open);
	at("find").oninput = filter;
	const addressed = operations.addressed();
	if (addressed) await open(addressed);
}

const fail = (error) => showError(`The reference cannot be shown: ${error.message}.`);

at("settings").onsubmit = (event) => event.preventDefault();
at("check").onclick = () => token.check();
token.restore();
start().catch(fail);
