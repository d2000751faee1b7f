#!/usr/bin/env bash
# semantic-kernel 1.45.0 (Python): of Anthropic's seven stop reasons four are an error, whole and in a stream, and a
# stream loses the count of cached tokens.
#
# 1. `stop_reason` may be "stop_sequence", "refusal", "pause_turn" or "model_context_window_exceeded" (Anthropic API
#    reference, "Handling stop reasons"). The whole answer, which came with status 200, ends with KeyError, a stream with
#    ServiceResponseException behind its text. So who gives `stop_sequences` has no answer as soon as one is met.
# 2. Tokens that are read from a cache or written to it are not in `input_tokens`, but in members of their own (same
#    reference, "Prompt caching"). Of a whole answer they are in the metadata; of a stream there are `input_tokens` and
#    `output_tokens` only: of a prompt of ten thousand cached tokens the program counts seven.
# anthropic 0.125.0, which it calls, reads all of it in both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet semantic-kernel==1.45.0 anthropic==0.125.0
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from anthropic import Anthropic, AsyncAnthropic
from semantic_kernel.connectors.ai.anthropic import AnthropicChatCompletion, AnthropicChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory

REASONS = ["end_turn", "max_tokens", "stop_sequence", "refusal", "pause_turn", "model_context_window_exceeded"]
CACHE = {"cache_read_input_tokens": 10000, "cache_creation_input_tokens": 3}
USAGE = {"input_tokens": 7, "output_tokens": 5, **CACHE}
HEAD = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None, "usage": USAGE}


class Messages(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        end = {"stop_reason": request["model"], "stop_sequence": None}
        events = [
            {"type": "message_start", "message": {**HEAD, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
        stream = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
        whole = json.dumps({**HEAD, "content": [{"type": "text", "text": "Hello"}], **end})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if request.get("stream") else "application/json")
        self.end_headers()
        self.wfile.write((stream if request.get("stream") else whole).encode())

    def log_message(self, *_: object) -> None:
        pass


async def outcome(reason: str, stream: bool) -> tuple[str, str, dict | None]:
    client = AsyncAnthropic(api_key="none", base_url=base, max_retries=0)
    service = AnthropicChatCompletion(ai_model_id=reason, api_key="none", async_client=client)
    history, settings = ChatHistory(), AnthropicChatPromptExecutionSettings(max_tokens=9)
    history.add_user_message("Hello")
    text, end, usage = "", None, {}
    try:
        if stream:
            async for messages in service.get_streaming_chat_message_contents(history, settings):
                text += str(messages[0])
                end = messages[0].finish_reason or end
                usage |= messages[0].metadata.get("usage") or {}
        else:
            [message] = await service.get_chat_message_contents(history, settings)
            text, end, usage = str(message), message.finish_reason, dict(message.metadata["usage"])
    except Exception as error:
        return text, f"{type(error).__name__}: {error}", None
    return text, end.value, {name: usage.get(name) for name in CACHE}


def vendor(client: Anthropic, reason: str) -> list[tuple[str, str, dict]]:
    request = {"model": reason, "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    with client.messages.stream(**request) as stream:
        messages = [client.messages.create(**request), stream.get_final_message()]
    return [(each.content[0].text, each.stop_reason, {name: getattr(each.usage, name) for name in CACHE}) for each in messages]


server = ThreadingHTTPServer(("127.0.0.1", 0), Messages)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
for reason in REASONS:
    whole, streamed = (asyncio.run(outcome(reason, stream)) for stream in (False, True))
    print(reason, whole, streamed)
    assert vendor(Anthropic(api_key="none", base_url=base), reason) == [("Hello", reason, CACHE)] * 2
    if reason in ("end_turn", "max_tokens"):
        end = {"end_turn": "stop", "max_tokens": "length"}[reason]
        assert whole == ("Hello", end, CACHE)
        assert streamed == ("Hello", end, dict.fromkeys(CACHE))
    else:
        assert whole == ("", f"KeyError: '{reason}'", None)
        assert streamed[0] == "Hello" and streamed[1].startswith("ServiceResponseException") and reason in streamed[1]
PYTHON
