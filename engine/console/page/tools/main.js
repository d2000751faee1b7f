import { TokenField } from "../token.js";
import { announce, at, h } from "../playground/dom.js";
import { Problem, asProblem, card } from "../playground/problem.js";
import { callTool, check, listTools } from "./client.js";
import { fieldsOf, parse } from "./form.js";
import { resultOf } from "./result.js";

/* Lists the tools of a token, and calls one. */

const MARKS = {
	readOnlyHint: ["reads only", "may change something"],
	destructiveHint: ["may destroy something", ""],
	idempotentHint: ["may be repeated", ""],
};

const token = new TokenField(check, accept, () => open(true));
let servers = [];
let tools = [];
let fields = null; // of the chosen tool
let running = null; // the AbortController of a call

function accept({ token: { name }, servers: list }) {
	servers = list;
	at("server").replaceChildren(...servers.map(({ name }) => h("option", name)));
	at("server").disabled = at("filter").disabled = at("tool").disabled = false;
	loadTools();
	return name;
}

const server = () => servers[at("server").selectedIndex];

async function loadTools() {
	at("count").textContent = "Loading…";
	tools = [];
	try {
		tools = server() ? await listTools(server(), token.secret) : [];
		showTools();
	} catch (error) {
		at("count").replaceChildren(card(asProblem(error)));
	}
}

function showTools() {
	const words = at("filter").value.toLowerCase().split(/\s+/);
	const found = tools.filter(({ name, title, description }) => {
		const text = `${name} ${title} ${description}`.toLowerCase();
		return words.every((word) => text.includes(word));
	});
	at("tool").replaceChildren(...found.map(({ name }) => h("option", name)));
	at("count").textContent = `${found.length} of ${tools.length} tools`;
}

function choose() {
	const tool = tools.find(({ name }) => name === at("tool").value);
	if (!tool) return;
	fields = fieldsOf(tool.inputSchema);
	at("empty").hidden = true;
	at("chosen").hidden = false;
	at("name").textContent = tool.title || tool.name;
	at("marks").textContent = [tool.name, ...marksOf(tool)].join(" · ");
	at("description").textContent = tool.description ?? "";
	at("fields").replaceChildren(...fields.nodes);
	at("json").value = "";
	at("result").replaceChildren();
	at("arguments-error").textContent = "";
	setMode(false);
	open(false);
}

const marksOf = ({ annotations = {} }) =>
	Object.entries(MARKS)
		.map(([name, [yes, no]]) => (annotations[name] ? yes : name in annotations ? no : ""))
		.filter(Boolean);

function setMode(isWhole) {
	at("whole").hidden = !isWhole;
	at("fields").hidden = isWhole;
	at("arguments").noValidate = isWhole; // fields that are hidden may be empty
	at("mode").textContent = isWhole ? "Use the form" : "Edit as JSON";
}

function values() {
	if (at("whole").hidden) return fields.values();
	const value = parse(at("json").value, "Arguments") ?? {};
	if (value?.constructor !== Object) throw new Problem("The arguments are no JSON object.");
	return value;
}

async function call() {
	const name = at("marks").textContent.split(" · ")[0];
	at("arguments-error").textContent = "";
	const start = performance.now();
	try {
		const sent = values();
		running = new AbortController();
		at("call").textContent = "Stop";
		at("result").replaceChildren(h("p.wait", "Waiting for the answer…"));
		const result = await callTool(server(), token.secret, name, sent, running.signal);
		at("result").replaceChildren(...resultOf(result, performance.now() - start));
		announce(result.isError ? "The tool reports an error." : "The tool has answered.");
	} catch (error) {
		if (!running) at("arguments-error").textContent = asProblem(error).message;
		else if (error.name === "AbortError") at("result").replaceChildren(h("p.muted", "Stopped."));
		else at("result").replaceChildren(card(asProblem(error)));
	}
	running = null;
	at("call").textContent = "Call";
	at("result").scrollIntoView({ block: "nearest" });
}

function open(isOpen) {
	at("settings").classList.toggle("open", isOpen);
	at("settings-toggle").ariaExpanded = String(isOpen);
}

at("settings-toggle").onclick = () => open(!at("settings").classList.contains("open"));
at("settings").onsubmit = (event) => event.preventDefault();
at("check").onclick = () => token.check();
at("server").onchange = loadTools;
at("filter").oninput = showTools;
at("tool").onchange = choose;
at("mode").onclick = () => {
	const isWhole = at("whole").hidden;
	if (isWhole && !at("json").value) {
		try {
			at("json").value = JSON.stringify(fields.values(), null, 2);
		} catch (error) {
			at("arguments-error").textContent = asProblem(error).message;
		}
	}
	setMode(isWhole);
};
at("arguments").onsubmit = (event) => {
	event.preventDefault();
	if (running) running.abort();
	else call();
};
if (!(await token.restore())) open(true);
