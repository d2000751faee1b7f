// List, call, fail and cancel with a TypeScript SDK: node typescript_sdk.mjs URL TOKEN SDK [ERA].
// SDK is "sdk" (the old one) or "client"; ERA is the mode in which the new one negotiates.
const [url, token, sdk, era] = process.argv.slice(2);
const old = sdk === "sdk";
const load = (name) => import(`${process.env.MODULES}/${name}`);
const { Client } = await load(
  old ? "@modelcontextprotocol/sdk/dist/esm/client/index.js" : "@modelcontextprotocol/client/dist/index.mjs",
);
const { StreamableHTTPClientTransport } = await load(
  old
    ? "@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js"
    : "@modelcontextprotocol/client/dist/index.mjs",
);
const options = era ? { versionNegotiation: { mode: era } } : {};
const client = new Client({ name: sdk, version: "1" }, options);
const headers = { authorization: `Bearer ${token}` };
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
);
const { tools } = await client.listTools();
const result = await client.callTool({ name: "show", arguments: { id: "7" } });
const refused = await client.callTool({ name: "show", arguments: {} });
const unknown = await client.callTool({ name: "nothing", arguments: {} }).catch((e) => e);
const stop = new AbortController();
setTimeout(() => stop.abort("enough"), 300);
const cancelled = await client
  .callTool({ name: "slow", arguments: {} }, ...(old ? [undefined] : []), { signal: stop.signal })
  .catch((e) => e);
console.log(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    structured: result.structuredContent,
    refused: [refused.isError, refused.content[0].text],
    unknown: unknown.message,
    cancelled: cancelled.message,
  }),
);
await client.close();
