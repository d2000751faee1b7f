// The batches of all vendors, from the first request to the last.
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
const [url, apiKey] = process.argv.slice(2);
const say = (what, value) => console.log(JSON.stringify({ what, value }));
const step = async (what, run) => { try { say(what, await run()); } catch (e) { say(what, `FAILED ${e.status ?? ""} ${String(e.message).slice(0, 300)}`); } };
const openai = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
const line = (id) => JSON.stringify({ custom_id: id, method: "POST", url: "/v1/chat/completions", body: { model: "gpt-4o", messages: [{ role: "user", content: id }] } });
const upload = await openai.files.create({ file: new File([line("a") + "\n" + line("b") + "\n"], "b.jsonl"), purpose: "batch" });
let batch = await openai.batches.create({ input_file_id: upload.id, endpoint: "/v1/chat/completions", completion_window: "24h" });
await step("openai cancel", async () => (await openai.batches.cancel((await openai.batches.create({ input_file_id: upload.id, endpoint: "/v1/chat/completions", completion_window: "24h" })).id)).status);
for (let n = 0; n < 9 && batch.status !== "completed"; n++) batch = await openai.batches.retrieve(batch.id);
await step("openai results", async () => (await (await openai.files.content(batch.output_file_id)).text()).split("\n").filter(Boolean).length);
await step("openai list", async () => { let n = 0; for await (const _ of openai.batches.list()) n++; return n; });
const anthropic = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
for (const [name, batches] of [["messages", anthropic.messages.batches], ["beta", anthropic.beta.messages.batches]]) {
  const requests = ["a", "b"].map((custom_id) => ({ custom_id, params: { model: "claude-sonnet", max_tokens: 9, messages: [{ role: "user", content: custom_id }] } }));
  let made = await batches.create({ requests });
  await step(`${name} cancel`, async () => (await batches.cancel((await batches.create({ requests })).id)).processing_status);
  for (let n = 0; n < 9 && made.processing_status !== "ended"; n++) made = await batches.retrieve(made.id);
  await step(`${name} results`, async () => { let n = 0; for await (const r of await batches.results(made.id)) n += r.result.type === "succeeded"; return n; });
  await step(`${name} list`, async () => { let n = 0; for await (const _ of batches.list()) n++; return n; });
  await step(`${name} delete`, async () => (await batches.delete(made.id)).type);
}
const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
const model = "gemini-2.5-flash";
const until = async (b) => { for (let n = 0; n < 9 && b.state !== "JOB_STATE_SUCCEEDED"; n++) b = await google.batches.get({ name: b.name }); return b; };
await step("google inline", async () => (await until(await google.batches.create({ model, src: [{ contents: [{ parts: [{ text: "hi" }] }] }] }))).dest.inlinedResponses.length);
const text = ["a", "b"].map((key) => JSON.stringify({ key, request: { contents: [{ parts: [{ text: key }] }] } })).join("\n");
await step("google file", async () => {
  const file = await google.files.upload({ file: new Blob([text], { type: "jsonl" }), config: { mimeType: "jsonl" } });
  const done = await until(await google.batches.create({ model, src: file.name }));
  return done.dest.fileName.startsWith("files/mw") && done.state;
});
const large = Array.from({ length: 1200 }, (_, n) => JSON.stringify({ key: `r${n}`, request: { contents: [{ parts: [{ text: "x".repeat(9000) }] }] } })).join("\n");
await step("google large file", async () => {
  const file = await google.files.upload({ file: new Blob([large], { type: "jsonl" }), config: { mimeType: "jsonl" } });
  return [large.length, (await google.batches.create({ model, src: file.name })).state];
});
await step("google bad file", async () => {
  const bad = '{"key": "a", "request": {"contents": 7}}\n';
  const file = await google.files.upload({ file: new Blob([bad], { type: "jsonl" }), config: { mimeType: "jsonl" } });
  return (await google.batches.create({ model, src: file.name })).state;
});
await step("google embeddings", async () => (await until(await google.batches.createEmbeddings({ model: "gemini-embedding-001", src: { inlinedRequests: { contents: [{ parts: [{ text: "hi" }] }] } } }))).state);
await step("google list", async () => { let n = 0; for await (const _ of await google.batches.list()) n++; return n; });
const again = await google.batches.create({ model, src: [{ contents: [{ parts: [{ text: "hi" }] }] }] });
await step("google cancel", async () => String(await google.batches.cancel({ name: again.name })));
await step("google delete", async () => String((await google.batches.delete({ name: again.name }))?.done));
process.exit(0);
