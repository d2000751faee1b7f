/* The table of models: a search, filters by what they do, and the status of each. */

const INTERVAL = 15_000; // milliseconds between two reads of the status
const STATES = {
	healthy: ["●", "Healthy"],
	degraded: ["▲", "Degraded"],
	unknown: ["○", "Unknown"],
};
const EXPLANATIONS = {
	healthy: "It answered when it was last asked",
	degraded: "A server behind it fails or refuses requests at present",
	unknown: "It has not been asked yet",
};

const rows = [...document.querySelectorAll("#model-table tbody tr")];
const filters = document.getElementById("filters");
const find = document.getElementById("find");
const buttons = [...document.querySelectorAll("#filters button")];
let task = "";

function filter() {
	const words = find.value.toLowerCase().split(/\s+/);
	for (const row of rows) {
		const text = row.textContent.toLowerCase();
		const does = !task || row.dataset.tasks.split(" ").includes(task);
		row.hidden = !(does && words.every((word) => text.includes(word)));
	}
	const count = rows.filter((row) => !row.hidden).length;
	document.getElementById("found").textContent = `${count} of ${rows.length} models`;
}

function element(kind, className, text) {
	const node = document.createElement(kind);
	node.className = className;
	node.textContent = text;
	return node;
}

/** Show the state of a row's model. */
function show(row, state) {
	const [sign, title] = STATES[state];
	const node = element("span", `status ${state}`, "");
	node.title = EXPLANATIONS[state];
	const mark = element("span", "", sign);
	mark.ariaHidden = "true";
	node.append(mark, element("span", "hidden", title));
	row.querySelector(".status")?.remove();
	row.cells[0].prepend(node);
}

async function readStates() {
	if (document.hidden) return;
	const options = { cache: "no-store", credentials: "omit" };
	const response = await fetch("console/status.json", options).catch(() => null);
	const { models = {} } = response?.ok ? await response.json() : {};
	for (const row of rows) {
		const known = Object.hasOwn(models, row.dataset.entry) && models[row.dataset.entry];
		show(row, Object.hasOwn(STATES, known) ? known : "unknown");
	}
}

function start() {
	find.oninput = filter;
	for (const button of buttons) {
		button.onclick = () => {
			task = button.dataset.task;
			for (const each of buttons) each.ariaPressed = String(each === button);
			filter();
		};
	}
	filters.hidden = false;
	filter();
	readStates();
	setInterval(readStates, INTERVAL);
}

if (rows.length) start();
