#!/usr/bin/env bash
# langchain-anthropic 1.7.10, langchain-aws 1.9.1, langchain-google-genai 4.4.3, litellm 1.110.2 and pydantic-ai 2.38.0
# (Python): a picture in a data URL whose media type has a parameter does not reach the model.
#
# A media type in a data URL may have parameters, `data:image/png;name=cat.png;base64,...` (RFC 2397, 3); forms of
# react-jsonschema-form write the name of the file so. OpenAI's API takes such a URL as it is. For an API that wants the type
# alone the first four take all up to ";base64" for it: `media_type: "image/png;name=cat.png"` where Anthropic knows four
# values, and the format "png;name=cat.png" for Bedrock, so that the request is refused. langchain-google-genai raises
# "Invalid base64 data URI format". instructor 1.17.0 sends "image/png". Without the parameter all do.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="langchain-anthropic==1.7.10 langchain-aws==1.9.1 langchain-google-genai==4.4.3 litellm==1.110.2"
"$folder/venv/bin/pip" install --quiet $packages pydantic-ai==2.38.0 instructor==1.17.0
export LITELLM_LOCAL_MODEL_COST_MAP=True
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import litellm
from instructor.processing.multimodal import Image
from langchain_anthropic import ChatAnthropic
from langchain_aws import ChatBedrockConverse
from langchain_google_genai import ChatGoogleGenerativeAI
from pydantic_ai import BinaryContent

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CLAUDE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "A cat."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
BEDROCK = {
    "output": {"message": {"role": "assistant", "content": [{"text": "A cat."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
    "metrics": {"latencyMs": 1},
}
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "A cat."}]}, "finishReason": "STOP"}]}
received: list[dict] = []
logging.disable()


class Upstream(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        is_gemini = "generateContent" in unquote(self.path)
        answer = BEDROCK if "converse" in self.path else GEMINI if is_gemini else CLAUDE
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
threading.Thread(target=server.serve_forever, daemon=True).start()
upstream = f"http://127.0.0.1:{server.server_port}"


def messages(url: str) -> list[dict]:
    picture = {"type": "image_url", "image_url": {"url": url}}
    return [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}]


def ask_anthropic(url: str) -> str:
    ChatAnthropic(model="claude-sonnet-4-5", base_url=upstream, api_key="x").invoke(messages(url))
    return received[-1]["messages"][0]["content"][1]["source"]["media_type"]


def ask_litellm(url: str) -> str:
    options = {"model": "anthropic/claude-sonnet-4-5", "api_base": upstream, "api_key": "x"}
    litellm.completion(messages=messages(url), **options)
    return received[-1]["messages"][0]["content"][1]["source"]["media_type"]


def ask_bedrock(url: str) -> str:
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "eu-west-1"}
    ChatBedrockConverse(model="anthropic.claude-x", endpoint_url=upstream, **keys).invoke(messages(url))
    return "image/" + received[-1]["messages"][0]["content"][1]["image"]["format"]


def ask_gemini(url: str) -> str:
    options = {"base_url": upstream, "api_key": "x", "max_retries": 1}
    ChatGoogleGenerativeAI(model="gemini-2.5-flash", **options).invoke(messages(url))
    part = received[-1]["contents"][0]["parts"][1]
    return part["inlineData"]["mime_type"]


LIBRARIES = {
    "langchain-anthropic": ask_anthropic,
    "litellm": ask_litellm,
    "langchain-aws": ask_bedrock,
    "pydantic-ai": lambda url: BinaryContent.from_data_uri(url).media_type,
    "langchain-google-genai": ask_gemini,
    "instructor": lambda url: Image.from_base64(url).to_anthropic()["source"]["media_type"],
}
for parameter in ("", ";name=cat.png"):
    for name, media_type in LIBRARIES.items():
        try:
            outcome = media_type(f"data:image/png{parameter};base64,{PIXEL}")
        except ValueError as error:
            outcome = str(error).splitlines()[0]
        print(name, parameter or "without", outcome)
        expected = "image/png" if name == "instructor" else f"image/png{parameter}"
        if parameter and name == "langchain-google-genai":
            expected = "Invalid base64 data URI format. Expected pattern: data:([^;]+);base64,(.*)"
        assert outcome == expected, (name, parameter, outcome)
PYTHON
