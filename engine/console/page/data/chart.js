import { h } from "../playground/dom.js";

/* Small charts of our own, in SVG. What they show stands in a table as well. */

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [1000, 150];

function shape(name, attributes, ...children) {
	const node = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
	node.append(...children);
	return node;
}

const canvas = (label, ...shapes) =>
	shape(
		"svg",
		{
			viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
			preserveAspectRatio: "none",
			role: "img",
			"aria-label": label,
		},
		shape("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT - 0.5, y2: HEIGHT - 0.5 }),
		...shapes,
	);

const figure = (svg, ...texts) =>
	h("figure.chart", svg, h("figcaption", ...texts.map((text) => h("span", text))));

/** Bars for `rows` of `{name, value, text}`, in their order. */
export function bars(label, rows) {
	const most = Math.max(...rows.map(({ value }) => value), 0);
	const step = WIDTH / rows.length;
	const nodes = rows.map(({ name, value, text }, at) => {
		const height = most ? Math.max((value / most) * (HEIGHT - 6), value ? 2 : 0) : 0;
		const place = { x: at * step + step * 0.1, y: HEIGHT - height, width: step * 0.8, height };
		return shape("rect", { class: "value", ...place }, shape("title", {}, `${name}: ${text}`));
	});
	const top = rows.find(({ value }) => value === most);
	const summary = most ? `${label}. The most: ${top.text}, ${top.name}.` : `${label}: nothing.`;
	return figure(
		canvas(summary, ...nodes),
		rows[0]?.name ?? "",
		most ? `most: ${top.text}` : "",
		rows.at(-1)?.name ?? "",
	);
}

/** Lines for `series` of `{name, values, kind}` with the same number of values; the last is now. */
export function lines(label, series, text, ...captions) {
	const most = Math.max(...series.flatMap(({ values }) => values), 0);
	const nodes = series.map(({ values: all, kind }) => {
		const values = all.length === 1 ? [all[0], all[0]] : all; // a line has two ends
		const step = WIDTH / Math.max(values.length - 1, 1);
		const points = values.map((value, at) => {
			const y = most ? HEIGHT - 2 - (value / most) * (HEIGHT - 8) : HEIGHT - 2;
			return `${(at * step).toFixed(1)},${y.toFixed(1)}`;
		});
		return shape("polyline", { class: `line ${kind}`, points: points.join(" ") });
	});
	const now = series.map(({ name, values }) => `${name} ${text(values.at(-1) ?? 0)}`).join(", ");
	return figure(canvas(`${label}. Now: ${now}; the most: ${text(most)}.`, ...nodes), ...captions);
}
