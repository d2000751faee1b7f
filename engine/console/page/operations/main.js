import { at, h } from "../playground/dom.js";
import { problems, sections, state } from "./sections.js";

/* What the gateway does now: read every two seconds while the page is seen, and shown anew. */

const POLL_MS = 2000;
const FIRST_MS = 1100; // rates need two reports, which are a second apart
const TIMEOUT_MS = 10_000;
const MAX_POINTS = 90;

let history = []; // of figures, the last ones at the end
let last = null; // the report that is shown
let timer = 0;
let isPaused = false;

async function report() {
	const signal = AbortSignal.timeout(TIMEOUT_MS);
	const response = await fetch("operations.json", {
		cache: "no-store",
		credentials: "omit",
		signal,
	});
	if (response.ok) return response.json();
	const answer = await response.json().catch(() => null);
	throw new Error(answer?.error?.message ?? `The gateway answers with status ${response.status}.`);
}

async function poll() {
	let wait = POLL_MS;
	try {
		const next = await report();
		if (isPaused) return;
		const figures = next.metrics?.figures;
		if (figures) history = [...history, figures].slice(-MAX_POINTS);
		else if (next.metrics) wait = FIRST_MS;
		last = next;
		at("problems").replaceChildren(...problems(next));
		update(at("content"), sections(next, history));
		at("content").classList.remove("old");
		at("status").textContent = state(next);
	} catch (error) {
		showFailure(error);
	}
	schedule(wait);
}

function showFailure(error) {
	const isNetwork = error instanceof TypeError || error.name === "TimeoutError";
	const text = isNetwork ? "The gateway does not answer." : error.message;
	const since = last
		? ` The figures are those of ${new Date(last.time * 1000).toLocaleTimeString()}.`
		: "";
	at("problems").replaceChildren(h("p.problem", `${text}${since} It is asked again.`));
	at("content").classList.toggle("old", last !== null);
	if (!last) at("content").replaceChildren();
}

/** Replace the sections; what is scrolled, open or focused in them stays so. */
function update(place, nodes) {
	const active = document.activeElement;
	const label = place.contains(active) ? (active.ariaLabel ?? active.textContent) : null;
	const scrolled = new Map(
		[...place.querySelectorAll(".scroll")].map((one) => [one.ariaLabel, one]),
	);
	place.replaceChildren(...nodes);
	for (const node of place.querySelectorAll(".scroll")) {
		const former = scrolled.get(node.ariaLabel);
		if (former) [node.scrollLeft, node.scrollTop] = [former.scrollLeft, former.scrollTop];
		if (label && node.ariaLabel === label) node.focus({ preventScroll: true });
	}
}

function schedule(wait) {
	clearTimeout(timer);
	if (!isPaused && !document.hidden) timer = setTimeout(poll, wait);
}

at("pause").onclick = () => {
	isPaused = !isPaused;
	at("pause").ariaPressed = String(isPaused);
	schedule(0);
};
document.addEventListener("visibilitychange", () => schedule(0));
poll();
