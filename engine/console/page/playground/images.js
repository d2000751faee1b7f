import { at, button, h } from "./dom.js";

/* Images of the next message, as data URLs: chosen, pasted or dropped. */

const MAX_SIZE = 15e6; // bytes; `server.max_body` is 25 MB by default

const form = at("composer");
const input = at("file"); // its `accept` lists the types
let images = [];

export const attached = () => images;

/** Replace the attached images. */
export function attach(all) {
	images = [...all];
	const nodes = images.map((src, i) => {
		const remove = button("✕", `Remove image ${i + 1}`, () => {
			attach(images.filter((_, other) => other !== i));
			at("draft").focus();
		});
		return h("div", h("img", { src, alt: `Attached image ${i + 1}` }), remove);
	});
	at("images").replaceChildren(...nodes);
}

async function add(files) {
	const errors = [];
	for (const file of files) {
		if (!input.accept.includes(file.type || "none"))
			errors.push(`${file.name} is not PNG, JPEG, WebP or GIF.`);
		else if (file.size > MAX_SIZE) errors.push(`${file.name} is larger than 15 MB.`);
		else attach([...images, await read(file)]);
	}
	at("composer-error").textContent = errors.join(" ");
}

function read(file) {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(reader.result);
		reader.onerror = () => reject(reader.error);
		reader.readAsDataURL(file);
	});
}

at("attach").onclick = () => input.click();
input.onchange = async () => {
	await add([...input.files]);
	input.value = "";
};
form.onpaste = (event) => {
	if (!event.clipboardData.files.length) return;
	event.preventDefault();
	add([...event.clipboardData.files]);
};
for (const kind of ["dragover", "dragleave", "drop"]) {
	document.addEventListener(kind, (event) => {
		if (!event.dataTransfer?.types.includes("Files")) return;
		event.preventDefault();
		form.classList.toggle("over", kind === "dragover");
		if (kind === "drop") add([...event.dataTransfer.files]);
	});
}
