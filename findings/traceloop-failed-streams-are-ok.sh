#!/usr/bin/env bash
# opentelemetry-instrumentation-openai 0.62.4 (Traceloop): a stream that breaks off with an error is a span with status OK.
#
# After the headers, a server of Chat Completions reports an error as an event with an `error`, which openai-python
# 3.57.0 raises as APIError. A span of a failed operation has the status Error and an `error.type` (OpenTelemetry
# semantic conventions, "Recording errors" and "Spans" of generative AI). This span has the status OK, no `error.type`, no
# event of an exception, and a finish reason of "". The same error as an answer of 500 is recorded as one. An alert on
# failed calls never sees those of overloaded streams; openinference-instrumentation-openai 0.1.66 has status ERROR.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="opentelemetry-instrumentation-openai==0.62.4 openinference-instrumentation-openai==0.1.66"
"$folder/venv/bin/pip" install --quiet $packages openai==3.57.0 opentelemetry-sdk==1.45.2
cd "$folder"
cat >trace.py <<'PYTHON'
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module

from openai import APIError, OpenAI
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

ERROR = json.dumps({"error": {"message": "Overloaded.", "type": "server_error", "code": "overloaded"}})
DELTA = {"index": 0, "delta": {"role": "assistant", "content": "half"}, "finish_reason": None}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [DELTA]}


class Upstream(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        late = request["model"] == "late"
        self.send_response(200 if late else 500)
        self.send_header("Content-Type", "text/event-stream" if late else "application/json")
        self.end_headers()
        self.wfile.write((f"data: {json.dumps(CHUNK)}\n\ndata: {ERROR}\n\n" if late else ERROR).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
import_module(sys.argv[1]).OpenAIInstrumentor().instrument(tracer_provider=provider)
client = OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none", max_retries=0)
raised = 0
for model in ("late", "early"):
    try:
        for _ in client.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hi"}], stream=True):
            pass
    except APIError:
        raised += 1
assert raised == 2
print(*(span.status.status_code.name for span in exporter.get_finished_spans()))
PYTHON
traceloop=$(venv/bin/python -W ignore trace.py opentelemetry.instrumentation.openai 2>/dev/null)
openinference=$(venv/bin/python -W ignore trace.py openinference.instrumentation.openai 2>/dev/null)
echo "an error in the stream, and in place of it: Traceloop $traceloop, OpenInference $openinference"
[ "$traceloop" = "OK ERROR" ]
[ "$openinference" = "ERROR ERROR" ]
