#!/usr/bin/env bash
# @continuedev/cli 1.5.47: `useResponsesApi: false` of a model is not heeded, and GPT-5 models are asked in /responses.
#
# The schema of config.yaml has `useResponsesApi` beside `apiBase`, and Continue's own adapter for OpenAI says "never"
# for false. `cn` decides by the name of the model alone, also for an address that is not OpenAI's: a server of chat
# completions that serves a model named gpt-5... answers 404. A model of another name is asked in /chat/completions.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @continuedev/cli@1.5.47
cat >server.py <<'PYTHON'
import http.server
import subprocess
import sys
import threading
from pathlib import Path

paths = []


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        paths.append(self.path)
        body = b'{"error": {"message": "no", "type": "invalid_request_error"}}'
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


CONFIG = """
name: test
version: 1.0.0
schema: v1
models:
  - name: test
    provider: openai
    model: NAME
    apiBase: http://127.0.0.1:PORT/v1
    apiKey: none
    useResponsesApi: false
    capabilities: [tool_use]
"""
home, server = Path.cwd(), http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
seen = {}
for name in ("gpt-5.5", "llama-3"):
    paths.clear()
    (home / "config.yaml").write_text(CONFIG.replace("NAME", name).replace("PORT", str(server.server_port)))
    environ = {"PATH": sys.argv[1], "HOME": str(home), "CONTINUE_METRICS_ENABLED": "0", "CONTINUE_CLI_ENABLE_TELEMETRY": "0"}
    command = ["node_modules/.bin/cn", "--config", str(home / "config.yaml"), "--print", "Hello"]
    subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    seen[name] = sorted(set(paths))
    print(f"{name}: {seen[name]}")
assert seen == {"gpt-5.5": ["/v1/responses"], "llama-3": ["/v1/chat/completions"]}
PYTHON
python3 server.py "$PATH"
