import { h } from "./dom.js";

const TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const LARGEST = 15e6; // bytes; a gateway takes 25 MB in all unless it is told otherwise

/** Images that are attached by choice, paste or drop, as data URLs. */
export function attached(form, shelf, input, tell) {
	let images = [];

	function show() {
		shelf.replaceChildren(
			...images.map((src, i) => {
				const remove = () => set(images.filter((_, other) => other !== i));
				const key = h(
					"button",
					{ type: "button", "aria-label": `Remove image ${i + 1}`, onclick: remove },
					"✕",
				);
				return h("div", {}, h("img", { src, alt: `Attached image ${i + 1}` }), key);
			}),
		);
	}

	function set(all) {
		images = [...all];
		show();
	}

	async function add(files) {
		tell("");
		for (const file of files) {
			if (!TYPES.includes(file.type)) tell(`${file.name} is no PNG, JPEG, WebP or GIF.`);
			else if (file.size > LARGEST) tell(`${file.name} is larger than 15 MB.`);
			else images.push(await read(file));
		}
		show();
	}

	input.addEventListener("change", async () => {
		await add([...input.files]);
		input.value = "";
	});
	form.addEventListener("paste", (event) => {
		if (!event.clipboardData.files.length) return;
		event.preventDefault();
		add([...event.clipboardData.files]);
	});
	for (const kind of ["dragover", "dragleave", "drop"]) {
		document.addEventListener(kind, (event) => {
			if (!event.dataTransfer?.types.includes("Files")) return;
			event.preventDefault();
			form.classList.toggle("over", kind === "dragover");
			if (kind === "drop") add([...event.dataTransfer.files]);
		});
	}
	return { get: () => images, set };
}

function read(file) {
	return new Promise((done, failed) => {
		const reader = new FileReader();
		reader.onload = () => done(reader.result);
		reader.onerror = () => failed(reader.error);
		reader.readAsDataURL(file);
	});
}
