/* Buttons that copy; without scripts the page has everything else. */

function copies(holder, what, visible) {
	const button = document.createElement("button");
	button.type = "button";
	button.className = "copy small";
	button.textContent = "Copy";
	button.setAttribute("aria-label", `Copy ${what}`);
	const said = document.createElement("span");
	said.className = "hidden";
	said.setAttribute("role", "status");
	button.addEventListener("click", async () => {
		const code = visible();
		try {
			await navigator.clipboard.writeText(code.textContent);
			said.textContent = button.textContent = "Copied";
		} catch {
			getSelection().selectAllChildren(code); // the clipboard is for secure pages alone
			said.textContent = button.textContent = "Press Ctrl+C";
		}
		setTimeout(() => {
			button.textContent = "Copy";
			said.textContent = "";
		}, 1600);
	});
	holder.append(button, said);
}

for (const holder of document.querySelectorAll(".address")) {
	copies(holder, "the base address", () => holder.querySelector("code"));
}
for (const tabs of document.querySelectorAll(".tabs")) {
	const panels = [...tabs.querySelectorAll(".panel")];
	copies(tabs, "this call", () => panels.find((one) => one.offsetParent).querySelector("code"));
}
