/* Copy buttons. Everything else on the page works without JavaScript. */

function addCopyButton(container, subject, findCode) {
	const button = document.createElement("button");
	button.type = "button";
	button.className = "copy small";
	button.textContent = "Copy";
	button.setAttribute("aria-label", `Copy ${subject}`);
	const status = document.createElement("span");
	status.className = "hidden";
	status.setAttribute("role", "status");
	button.addEventListener("click", async () => {
		const code = findCode();
		try {
			await navigator.clipboard.writeText(code.textContent);
			status.textContent = button.textContent = "Copied";
		} catch {
			getSelection().selectAllChildren(code); // the clipboard needs https or localhost
			status.textContent = button.textContent = "Press Ctrl+C";
		}
		setTimeout(() => {
			button.textContent = "Copy";
			status.textContent = "";
		}, 1600);
	});
	container.append(button, status);
}

for (const container of document.querySelectorAll(".address")) {
	addCopyButton(container, "the base address", () => container.querySelector("code"));
}
for (const settings of document.querySelectorAll(".settings")) {
	addCopyButton(settings, "these settings", () => settings.querySelector("code"));
}
for (const tabs of document.querySelectorAll(".tabs")) {
	const panels = [...tabs.querySelectorAll(".panel")];
	addCopyButton(tabs, "this call", () =>
		panels.find((panel) => panel.offsetParent).querySelector("code"),
	);
}
