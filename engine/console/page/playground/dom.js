/** An element with properties and children; text always becomes a text node. */
export function h(name, properties = {}, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(properties)) {
		if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
		else if (key in made && key !== "role") made[key] = value;
		else made.setAttribute(key, value);
	}
	made.append(...children.filter((child) => child !== null && child !== ""));
	return made;
}

export const at = (id) => document.getElementById(id);

/** Put text on the clipboard; the button says how it went. */
export async function copy(text, button) {
	const before = button.textContent;
	try {
		await navigator.clipboard.writeText(text);
		button.textContent = "Copied";
	} catch {
		button.textContent = "Not allowed"; // the browser gives the clipboard to secure pages alone
	}
	say(button.textContent);
	setTimeout(() => (button.textContent = before), 1500);
}

/** Tell a screen reader, once what it is saying is said. */
export function say(text) {
	at("said").append(h("p", {}, text));
	while (at("said").childElementCount > 6) at("said").firstChild.remove();
}
