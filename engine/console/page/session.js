/* Who is signed in to the pages. Where nobody can, the gateway leaves out the `meta` element, and
   nothing is asked. The session is a cookie that no script can read; only requests of a page of the
   gateway's own that say `credentials: "same-origin"` are made with it. */

const meta = document.querySelector("meta[name=sign-in]");
const address = meta && new URL(meta.content, location.href);
/** The base path of the gateway, with a slash at its end. */
const root = address && new URL("..", address).pathname;

/** Whether people may sign in here; else pages take tokens only. */
export const hasSignIn = meta !== null;

/**
 * The options of a fetch: with the headers of a token or, if the token is "", with the session and
 * without the headers that would carry a token.
 */
export function authorized(token, headers = { authorization: `Bearer ${token}` }) {
	if (token) return { headers };
	const others = Object.entries(headers).filter(([, value]) => value && value !== "Bearer ");
	return { headers: Object.fromEntries(others), credentials: "same-origin" };
}

/**
 * Who is signed in: `caller` is `{name, team, expires}` (Unix seconds) or null, `sign_in` the
 * address where one signs in, `reason` why a session has ended. Null where nobody can sign in.
 */
export async function session() {
	if (!hasSignIn) return null;
	const response = await fetch(address, { credentials: "same-origin", cache: "no-store" });
	if (!response.ok) throw new Error(`the session cannot be read (status ${response.status})`);
	return response.json();
}

/** Go to the provider, and come back to this page. */
export function signIn(state) {
	const page = `/${location.pathname.slice(root.length)}`;
	location.assign(`${state.sign_in}?to=${encodeURIComponent(page)}`);
}

/** End the session here and, if the provider has a page for that, there. */
export async function signOut() {
	const options = { method: "POST", credentials: "same-origin" };
	const response = await fetch(new URL("sign-out", address), options);
	const { provider } = response.ok ? await response.json() : {};
	if (provider) location.assign(provider);
	else location.reload();
}

/**
 * Show in an element who is signed in, with a button to sign out, or one to sign in; it stays hidden
 * where nobody can. Returns who is signed in, or null.
 */
export async function showSession(holder) {
	if (!hasSignIn) return null;
	let state;
	try {
		state = await session();
	} catch {
		state = { caller: null, reason: "Who is signed in cannot be read. Reload the page." };
	}
	const { caller, reason } = state;
	const team = caller?.team ? `, team ${caller.team}` : "";
	const text = document.createElement("span");
	text.textContent = caller ? `Signed in as ${caller.name}${team}` : (reason ?? "");
	const button = document.createElement("button");
	button.type = "button";
	button.className = caller ? "quiet small" : "main small";
	button.textContent = caller ? "Sign out" : "Sign in";
	button.onclick = () => (caller ? signOut() : signIn(state));
	holder.replaceChildren(...(text.textContent ? [text] : []), ...(state.sign_in ? [button] : []));
	holder.hidden = false;
	return caller;
}
