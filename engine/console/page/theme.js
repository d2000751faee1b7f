/* Light or dark: as the system says, or as was chosen here. Runs before the first paint. */
(() => {
	const root = document.documentElement;
	const system = matchMedia("(prefers-color-scheme: dark)");
	let kept;
	try {
		kept = localStorage;
	} catch {
		kept = {}; // storage is switched off: a choice lasts as long as the page
	}

	function show() {
		root.style.colorScheme = kept.theme ?? "";
		root.classList.toggle("dark-mode", kept.theme ? kept.theme === "dark" : system.matches);
	}

	show();
	system.onchange = show;
	addEventListener("DOMContentLoaded", () => {
		const button = document.createElement("button");
		button.className = "quiet theme";
		button.textContent = "◐";
		button.ariaLabel = button.title = "Light or dark";
		button.onclick = () => {
			kept.theme = root.classList.contains("dark-mode") ? "light" : "dark";
			show();
		};
		document.querySelector(".bar").append(button);
	});
})();
