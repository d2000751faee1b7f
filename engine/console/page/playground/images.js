import { at, button, h } from "./dom.js";

/* Images that go with the next message: chosen, pasted or dropped, held as data URLs. */

const LARGEST = 15e6; // bytes; a gateway takes 25 MB in all unless it is told otherwise

const form = at("composer");
const input = at("file"); // its `accept` says which types there are
let images = [];

export const attached = () => images;

/** Attach these and no others. */
export function attach(all) {
	images = [...all];
	const shown = images.map((src, i) => {
		const remove = button("✕", `Remove image ${i + 1}`, () => {
			attach(images.filter((_, other) => other !== i));
			at("draft").focus();
		});
		return h("div", h("img", { src, alt: `Attached image ${i + 1}` }), remove);
	});
	at("images").replaceChildren(...shown);
}

async function add(files) {
	const refused = [];
	for (const file of files) {
		if (!input.accept.includes(file.type || "none"))
			refused.push(`${file.name} is no PNG, JPEG, WebP or GIF.`);
		else if (file.size > LARGEST) refused.push(`${file.name} is larger than 15 MB.`);
		else attach([...images, await read(file)]);
	}
	at("composer-said").textContent = refused.join(" ");
}

function read(file) {
	return new Promise((done, failed) => {
		const reader = new FileReader();
		reader.onload = () => done(reader.result);
		reader.onerror = () => failed(reader.error);
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
