#!/usr/bin/env bash
# got 14.6.6, ky 1.14.3, axios-retry 4.5.0 and retry-axios 4.0.3 (npm): a `Retry-After` of one minute is five hours in
# New York, and nothing in Berlin.
#
# `Retry-After` may be a date, which a recipient has to read in three formats, the last one of which is that of C's
# `asctime`, "Mon Nov 30 22:05:27 2026"; a date is always in UTC (RFC 9110, 5.6.7 and 10.2.3). These libraries give the
# text to `Date.parse`, for which a date in no format of ECMA-262 and without a zone is local time. West of Greenwich
# the program sleeps for hours; east of it, it asks the server again at once, or by a schedule of its own, although it
# was told to wait. retry-axios, which waits five minutes at most, and not for a time that has passed, gives up in
# both. With `TZ=UTC`, as in most containers, nothing is seen. urllib3 2.8.0 and httpx-retries 0.6.0 (Python) wait one
# minute.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet urllib3==2.8.0 httpx-retries==0.6.0
cd "$folder"
npm install --silent --no-audit --no-fund got@14.6.6 ky@1.14.3 axios@1.21.1 axios-retry@4.5.0 retry-axios@4.0.3
cat >waits.mjs <<'JAVASCRIPT'
import { createServer } from "node:http";
import axios from "axios";
import axiosRetry from "axios-retry";
import got from "got";
import ky from "ky";
import { attach } from "retry-axios";

// Timers of more than 11 seconds are the waits: they are noted and end at once.
const { setTimeout: start } = globalThis;
let wait = 0;
globalThis.setTimeout = (call, milliseconds, ...rest) => {
  if (milliseconds > 11_000) wait = Math.max(wait, milliseconds);
  return start(call, milliseconds > 11_000 ? 1 : milliseconds, ...rest);
};
const formats = {
  preferred: () => new Date(Date.now() + 61_000).toUTCString(),
  asctime() {
    const [day, date, month, year, time] = formats.preferred().replace(",", "").split(" ");
    return `${day} ${month} ${String(Number(date)).padStart(2)} ${time} ${year}`;
  },
};
let format, requests;
const server = createServer((request, response) => {
  requests += 1;
  if (requests > 1) return response.end("{}");
  response.writeHead(503, { "Retry-After": formats[format]() }).end();
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const retrying = axios.create();
axiosRetry(retrying);
const attached = axios.create();
attach(attached);
const clients = {
  got: () => got(url, { retry: { limit: 3 } }),
  ky: () => ky(url, { timeout: false }).text(),
  "axios-retry": () => retrying.get(url),
  "retry-axios": () => attached({ url, raxConfig: { instance: attached, retry: 3 } }),
};
const seen = {};
for (format of Object.keys(formats)) {
  seen[format] = {};
  for (const [name, ask] of Object.entries(clients)) {
    [wait, requests] = [0, 0];
    const failed = await ask().then(() => false, () => true);
    seen[format][name] = failed ? "no second request" : Math.round(wait / 60_000);
  }
}
console.log(JSON.stringify(seen));
process.exit();
JAVASCRIPT
venv/bin/python -W ignore - <<'PYTHON'
import json
import os
import subprocess
import time

from httpx_retries import Retry
from urllib3 import Retry as Urllib3Retry

CLIENTS = ["got", "ky", "axios-retry", "retry-axios"]
for zone in ("UTC", "America/New_York", "Europe/Berlin"):
    os.environ["TZ"] = zone
    time.tzset()
    expected = max(0, round(-time.localtime().tm_gmtoff / 60) + 1)
    seen = json.loads(subprocess.check_output(["node", "waits.mjs"], text=True, timeout=60))
    date = time.asctime(time.gmtime(time.time() + 61))
    python = [round(retry.parse_retry_after(date) / 60) for retry in (Urllib3Retry(), Retry())]
    print(f"{zone}: minutes {seen}, urllib3 and httpx-retries {python}")
    assert seen["preferred"] == dict.fromkeys(CLIENTS, 1)
    gives_up = {"retry-axios": "no second request"} if expected != 1 else {}
    assert seen["asctime"] == dict.fromkeys(CLIENTS, expected) | gives_up
    assert python == [1, 1]
PYTHON
