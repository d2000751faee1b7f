import { json, orError, request } from "../playground/call.js";
import { authorized } from "../session.js";

/* What the page asks of the gateway: with the token or, if that is "", with the session of who is
   signed in, which the browser sends. All throw Problem. */

async function read(path, token) {
	const response = await request(path, authorized(token));
	return orError(await json(response), response);
}

/** Who asks, and where its usage is. */
export const check = (token) => read("/console/usage.json", token);

/** The limits and the sums. */
export const usage = (access, token, query) =>
	read(`${access.usage}?${new URLSearchParams(query)}`, token);

/** The last requests, or those that are older than the one with that id. */
export const requests = (access, token, after) =>
	read(`${access.requests}?${new URLSearchParams(after ? { after } : {})}`, token);
