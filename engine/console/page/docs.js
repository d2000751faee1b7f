import { plainer } from "./plainer.js";

/* Swagger UI over our own document. Requests go to the address this page was reached at: nothing
   else may be called from here. */

const place = document.getElementById("reference");

function sorry(words) {
	const line = document.createElement("p");
	line.className = "loading";
	line.textContent = `${words} Reload the page to try again.`;
	place.replaceChildren(line);
}

async function start() {
	const answer = await fetch("openapi.json", { credentials: "omit" });
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
		onComplete: () => shown.querySelector(".servers select")?.setAttribute("aria-label", "Server"),
		presets: [globalThis.SwaggerUIBundle.presets.apis],
	});
}

start().catch((error) => sorry(`The reference cannot be shown: ${error.message}.`));
