import { h } from "../playground/dom.js";

/** A section with its heading. */
export const section = (title, ...nodes) => h("section", h("h2", title), ...nodes);

/** What is said where there is nothing to show. */
export const empty = (text) => h("p.empty", text);
