import { toOpenApi30 } from "./openapi30.js";

/* Swagger UI with the merged document. Its requests go to the address of this page: the
   Content-Security-Policy allows no other. */

const container = document.getElementById("reference");

/** Load a file of Swagger UI. The files are large, so the page is painted first. */
function load(tag, properties) {
	const element = Object.assign(document.createElement(tag), properties);
	const loaded = new Promise((resolve, reject) => {
		element.onload = resolve;
		element.onerror = () => reject(new Error("a file of Swagger UI could not be loaded"));
	});
	document.querySelector("link[rel=stylesheet]").before(element); // our styles override it
	return loaded;
}

/** Wait until the page is painted; a page in a hidden tab waits until it is visible. */
const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

function showError(message) {
	const line = document.createElement("p");
	line.className = "loading";
	line.textContent = `${message} Reload the page to try again.`;
	container.replaceChildren(line);
}

async function start() {
	const request = fetch("openapi.json", { credentials: "omit" });
	const [response] = await Promise.all([request, painted()]);
	await Promise.all([
		load("link", { rel: "stylesheet", href: "console/page/swagger-ui.css" }),
		load("script", { src: "console/page/swagger-ui-bundle.js" }),
	]);
	if (!response.ok) return showError(`The document could not be read (status ${response.status}).`);
	const spec = toOpenApi30(await response.json());
	spec.servers = [{ url: new URL(".", location.href).href.replace(/\/$/, "") }];
	const title = document.createElement("h1");
	title.className = "hidden";
	title.textContent = "Reference";
	const root = document.createElement("div");
	container.replaceChildren(title, root);
	globalThis.SwaggerUIBundle({
		spec,
		domNode: root,
		docExpansion: "list",
		defaultModelsExpandDepth: -1,
		filter: true,
		displayOperationId: false,
		persistAuthorization: false,
		validatorUrl: null,
		onComplete() {
			root.querySelector(".servers select")?.setAttribute("aria-label", "Server");
			// The accessible name is the visible text (WCAG 2.5.3).
			for (const button of root.querySelectorAll(".opblock-summary button[aria-label]"))
				if (button.textContent) button.removeAttribute("aria-label");
		},
		presets: [globalThis.SwaggerUIBundle.presets.apis],
	});
}

start().catch((error) => showError(`The reference cannot be shown: ${error.message}.`));
