/* Light or dark: as the system says, or as was chosen here. Runs before the first paint. */
(() => {
	const root = document.documentElement;
	const system = matchMedia("(prefers-color-scheme: dark)");
	let theme = "";
	let lasting = true;

	function show() {
		if (theme) root.dataset.theme = theme;
		root.classList.toggle("dark-mode", theme ? theme === "dark" : system.matches);
	}

	try {
		theme = { light: "light", dark: "dark" }[localStorage.getItem("theme")] ?? "";
	} catch {
		lasting = false; // storage is switched off: a choice lasts as long as the page
	}
	show();
	system.addEventListener("change", show);

	addEventListener("DOMContentLoaded", () => {
		const button = document.createElement("button");
		button.type = "button";
		button.className = "quiet theme";
		button.textContent = "◐";
		button.ariaLabel = button.title = "Light or dark";
		button.addEventListener("click", () => {
			theme = root.classList.contains("dark-mode") ? "light" : "dark";
			if (lasting) localStorage.setItem("theme", theme);
			show();
		});
		document.querySelector(".bar").append(button);
	});
})();
