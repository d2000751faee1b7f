#!/usr/bin/env bash
# google-genai 3.6.1 (Python) and @google/genai 2.32.0 (Node): live sessions go to another address than all other
# requests of the same client.
#
# Both take a base URL. For HTTP requests its scheme is kept, and a slash between it and the path is written once. For
# `live.connect` the Python SDK writes `wss:` whatever the scheme is, so that with an `http:` base URL it begins TLS on
# a port that speaks none; it offers no other way. The Node SDK makes `ws:` of `http:`, and writes the path behind a
# URL that always ends in a slash: `//ws/google.ai.generativelanguage...`, an empty first segment, which RFC 3986 3.3
# makes another path than `/ws/...`. The Python SDK does so too where the base URL ends in a slash.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet google-genai==3.6.1
cd "$folder"
npm install --silent --no-audit --no-fund @google/genai@2.32.0
cat >live.mjs <<'JAVASCRIPT'
import { GoogleGenAI } from "@google/genai";
const ai = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: process.argv[2] } });
const end = () => process.exit(0);
if (process.argv[3] === "live") ai.live.connect({ model: "m", callbacks: { onmessage: end, onerror: end, onclose: end } }).catch(end);
else ai.models.list().catch(end);
JAVASCRIPT
cat >live.py <<'PYTHON'
import asyncio
import sys

from google import genai

client = genai.Client(api_key="key", http_options={"base_url": sys.argv[1]})


async def live():
    async with client.aio.live.connect(model="m"):
        pass


try:
    asyncio.run(live()) if sys.argv[2] == "live" else list(client.models.list())
except Exception:
    pass
PYTHON
venv/bin/python - <<'PYTHON'
import socket
import subprocess
import sys

TLS_HANDSHAKE = b"\x16\x03"


def first_bytes(program: list[str], slash: str, what: str) -> bytes:
    """What the program sends first to a server at its base URL, which then closes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        url = f"http://127.0.0.1:{server.getsockname()[1]}{slash}"
        with subprocess.Popen([*program, url, what], stderr=subprocess.DEVNULL) as process:
            connection, _ = server.accept()
            connection.settimeout(60)
            data = connection.recv(4096)
            connection.close()
            process.kill()
    return data


def line(data: bytes) -> str:
    return "TLS" if data.startswith(TLS_HANDSHAKE) else data.split(b"?")[0].split(b" HTTP")[0].decode()


seen = {}
for name, program in {"Python": [sys.executable, "live.py"], "Node": ["node", "live.mjs"]}.items():
    for slash in ("", "/"):
        for what in ("models", "live"):
            seen[name, slash, what] = line(first_bytes(program, slash, what))
            print(f"{name}, base URL http://127.0.0.1:PORT{slash}, {what}: {seen[name, slash, what]}")
path = "//ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
for slash in ("", "/"):
    assert seen["Python", slash, "models"] == "GET /v1/models"
    assert seen["Node", slash, "models"] == "GET /v1beta/models"
    assert seen["Python", slash, "live"] == "TLS"
    assert seen["Node", slash, "live"] == f"GET {path}"
PYTHON
