import { plainer } from "./plainer.js";

/* Swagger UI over our own document. Requests go to the address this page was reached at: nothing
   else may be called from here. */

const place = document.getElementById("reference");

/** Load one of Swagger UI's own files. They are large: the page is shown before they are read. */
function load(name, properties) {
	const part = Object.assign(document.createElement(name), properties);
	const loaded = new Promise((done, failed) => {
		part.onload = done;
		part.onerror = () => failed(new Error("a part of it did not come"));
	});
	document.querySelector("link[rel=stylesheet]").before(part); // our own styles are to win
	return loaded;
}

/** Wait until what is there is painted; a page that nobody looks at is not, and waits. */
const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

function sorry(words) {
	const line = document.createElement("p");
	line.className = "loading";
	line.textContent = `${words} Reload the page to try again.`;
	place.replaceChildren(line);
}

async function start() {
	const asked = fetch("openapi.json", { credentials: "omit" });
	const [answer] = await Promise.all([asked, painted()]);
	await Promise.all([
		load("link", { rel: "stylesheet", href: "console/page/swagger-ui.css" }),
		load("script", { src: "console/page/swagger-ui-bundle.js" }),
	]);
	if (!answer.ok) return sorry(`The document could not be read (status ${answer.status}).`);
	const spec = plainer(await answer.json());
	spec.servers = [{ url: new URL(".", location.href).href.replace(/\/$/, "") }];
	const title = document.createElement("h1");
	title.className = "hidden";
	title.textContent = "Reference";
	const shown = document.createElement("div");
	place.replaceChildren(title, shown);
	globalThis.SwaggerUIBundle({
		spec,
		domNode: shown,
		docExpansion: "list",
		defaultModelsExpandDepth: -1,
		filter: true,
		displayOperationId: false,
		persistAuthorization: false,
		validatorUrl: null,
		onComplete() {
			shown.querySelector(".servers select")?.setAttribute("aria-label", "Server");
			// A button's name is what it shows: others cannot be spoken to it.
			for (const button of shown.querySelectorAll(".opblock-summary button[aria-label]"))
				if (button.textContent) button.removeAttribute("aria-label");
		},
		presets: [globalThis.SwaggerUIBundle.presets.apis],
	});
}

start().catch((error) => sorry(`The reference cannot be shown: ${error.message}.`));
