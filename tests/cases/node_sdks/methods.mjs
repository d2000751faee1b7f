// Calls every method of the SDKs for Node once, and prints a line of JSON for each request that one sends:
// the SDK, the method, what was sent, and the status and the text of the answer.
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";

const [url, apiKey] = process.argv.slice(2);
const HELPERS = /internal|poll|andwait|^stream$|^parse$|^_|^constructor$|runTools|toolRunner|^url$|^unwrap$|^upload$/i;
const HELD = new Set(["_client", "client", "apiClient", "beforeRequest"]);
const file = () => new File(["{}\n"], "a.jsonl", { type: "text/plain" });
const given = (model) => ({
  model, input: "hi", prompt: "hi", max_tokens: 9, messages: [{ role: "user", content: "hi" }],
  file: file(), files: [file()], image: file(), video: file(), data: file(), audio_sample: file(), recording: file(),
  voice: "alloy", purpose: "assistants", name: "n", query: "q",
});

let sent;
const fetched = globalThis.fetch;
async function fetchNoting(target, init) {
  const request = { verb: init?.method ?? "GET", path: new URL(target.url ?? target).pathname };
  const answer = await fetched(target, init);
  if (sent) sent.push({ ...request, status: answer.status, text: (await answer.clone().text()).slice(0, 300) });
  return answer;
}
globalThis.fetch = fetchNoting;

function argumentsOf(method, model) {
  const text = method.toString();
  const names = text.slice(text.indexOf("(") + 1, text.indexOf(") {")).split(",").map((n) => n.trim().split(/\W/)[0]);
  const inner = text.match(/const \{([^}]*)\} = params/);
  const ids = (inner ? inner[1].split(",") : []).map((n) => n.trim()).filter((n) => /^\w+$/.test(n));
  return names.filter(Boolean).map((name) => {
    if (name === "params") return { ...given(model), ...Object.fromEntries(ids.map((id) => [id, "id_1"])) };
    if (name === "body" || name === "_params") return given(model);
    if (name === "query" || name === "options" || name === "requestOptions") return {};
    return "id_1";
  });
}

const seen = new Set();
async function walk(sdk, resource, path, model, args) {
  if (seen.has(resource)) return;
  seen.add(resource);
  const prototype = Object.getPrototypeOf(resource);
  const own = Object.getOwnPropertyNames(prototype).filter((n) => !Object.getOwnPropertyDescriptor(prototype, n).get);
  const held = Object.keys(resource).filter((n) => typeof resource[n] === "function" && n !== "constructor");
  for (const name of path ? new Set([...own, ...held]) : []) {
    if (HELPERS.test(name)) continue;
    sent = [];
    let failure = "";
    try {
      const result = await Promise.race([
        resource[name](...(args?.(path, name) ?? argumentsOf(resource[name], model))),
        new Promise((_, fail) => setTimeout(() => fail(new Error("it takes too long")), 8000)),
      ]);
      if (result?.[Symbol.asyncIterator]) for await (const _ of result) break;
    } catch (error) {
      failure = String(error.message).slice(0, 300);
    }
    const requests = sent;
    sent = undefined;
    console.log(JSON.stringify({ sdk, method: `${path}.${name}`, requests, failure }));
  }
  for (const [name, value] of Object.entries(resource)) {
    const isResource = value && typeof value === "object" && Object.getPrototypeOf(value) !== Object.prototype;
    if (isResource && !HELD.has(name) && !name.startsWith("_") && !Array.isArray(value)) {
      if (value._client || value.apiClient || sdk === "google") await walk(sdk, value, path ? `${path}.${name}` : name, model, args);
    }
  }
}

await walk("openai", new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 }), "", "gpt-4o");
await walk("anthropic", new Anthropic({ apiKey, baseURL: url, maxRetries: 0 }), "", "claude-sonnet");
const names = {
  caches: "cachedContents/id1", files: "files/id1", batches: "batches/id1", tunings: "tunedModels/id1", operations: "models/m/operations/id1",
  fileSearchStores: "fileSearchStores/id1", "fileSearchStores.documents": "fileSearchStores/id1/documents/id1",
};
const google = (path, method) => {
  const name = names[path] ?? "models/gemini-2.5-flash";
  const tuned = path === "models" && /^(update|delete)$/.test(method) ? "tunedModels/id1" : "gemini-2.5-flash";
  const model = method.startsWith("embed") ? "gemini-embedding-001" : tuned;
  const store = "fileSearchStores/id1";
  return [{
    name, model, contents: "hi", src: [{ contents: [{ parts: [{ text: "hi" }] }] }], file: "files/id1", prompt: "hi", config: {},
    fileSearchStoreName: store, fileName: "files/id1", parent: store, downloadPath: "/dev/null", operation: { name },
    trainingDataset: { examples: [] }, baseModel: "m",
  }];
};
await walk("google", new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } }), "", "gemini-2.5-flash", google);
process.exit(0);
