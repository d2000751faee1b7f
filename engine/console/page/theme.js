/* Light or dark: the system's setting, or the one chosen here. Runs before the first paint. */
(() => {
	const root = document.documentElement;
	const system = matchMedia("(prefers-color-scheme: dark)");
	let storage;
	try {
		storage = localStorage;
	} catch {
		storage = {}; // storage is disabled: the choice lasts until the page is closed
	}

	function show() {
		root.style.colorScheme = storage.theme ?? "";
		root.classList.toggle("dark-mode", storage.theme ? storage.theme === "dark" : system.matches);
	}

	show();
	system.onchange = show;
	addEventListener("DOMContentLoaded", () => {
		const button = document.createElement("button");
		button.className = "quiet theme";
		button.textContent = "◐";
		button.ariaLabel = button.title = "Light or dark";
		button.onclick = () => {
			storage.theme = root.classList.contains("dark-mode") ? "light" : "dark";
			show();
		};
		document.querySelector(".bar").append(button);
	});
})();
