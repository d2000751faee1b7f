import { authorized } from "../session.js";
import { json, orError, request } from "../playground/call.js";

/* Messages of MCP, revision 2026-07-28: each is one POST, without a session. */

const REVISION = "2026-07-28";
const META = {
	"io.modelcontextprotocol/protocolVersion": REVISION,
	"io.modelcontextprotocol/clientInfo": { name: "modelway-console", version: "1" },
	"io.modelcontextprotocol/clientCapabilities": {},
};
const MAX_PAGES = 100;

/** The MCP servers of the gateway. Throws Problem. */
export async function check(token) {
	const response = await request("/console/tools.json", authorized(token));
	return orError(await json(response), response);
}

/** The tools of a server that the token may call. Throws Problem. */
export async function listTools(server, token) {
	const tools = [];
	let cursor;
	for (let page = 0; page < MAX_PAGES; page++) {
		const result = await ask(server, token, "tools/list", cursor ? { cursor } : {});
		tools.push(...result.tools);
		cursor = result.nextCursor;
		if (!cursor) break;
	}
	return tools;
}

/** The result of a call. Throws Problem, or AbortError. */
export const callTool = (server, token, name, values, signal) =>
	ask(server, token, "tools/call", { name, arguments: values }, signal);

async function ask(server, token, method, params, signal) {
	const headers = {
		authorization: `Bearer ${token}`,
		"content-type": "application/json",
		accept: "application/json, text/event-stream",
		"mcp-protocol-version": REVISION,
		"mcp-method": method,
	};
	if (params.name) headers["mcp-name"] = params.name;
	const message = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } };
	const body = JSON.stringify(message);
	const options = { method: "POST", ...authorized(token, headers), body, signal };
	const response = await request(server.path, options);
	return orError(await json(response), response).result;
}
