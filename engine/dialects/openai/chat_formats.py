"""The chat formats of the OpenAI dialect: chat completions and responses."""

from __future__ import annotations

from engine.dialects.interface.chat_format import ChatFormat, Program

_CURL_HEADERS = '-H "Authorization: Bearer $TOKEN"'
_PYTHON = """import os
from openai import OpenAI

client = OpenAI(base_url=@BASE@, api_key=os.environ["TOKEN"])"""
_JAVASCRIPT = """import OpenAI from "openai";

const client = new OpenAI({ baseURL: @BASE@, apiKey: process.env.TOKEN });"""

CHAT_FORMATS = (
    ChatFormat(
        name="chat",
        title="Chat completions",
        path_suffix="/chat/completions",
        sdk_suffix="/chat/completions",
        module="chat",
        curl_headers=_CURL_HEADERS,
        arguments=lambda model: {
            "model": model,
            "messages": [{"role": "user", "content": "Hello!"}],
        },
        programs={
            "python": Program(
                start=_PYTHON,
                call="client.chat.completions.create",
                on_event="""if event.choices:
    print(event.choices[0].delta.content or "", end="", flush=True)""",
                on_answer="print(answer.choices[0].message.content)",
            ),
            "javascript": Program(
                start=_JAVASCRIPT,
                call="client.chat.completions.create",
                on_event='process.stdout.write(event.choices[0]?.delta?.content ?? "");',
                on_answer="console.log(answer.choices[0].message.content);",
            ),
        },
    ),
    ChatFormat(
        name="responses",
        title="Responses",
        path_suffix="/responses",
        sdk_suffix="/responses",
        module="responses",
        curl_headers=_CURL_HEADERS,
        arguments=lambda model: {"model": model, "input": "Hello!"},
        programs={
            "python": Program(
                start=_PYTHON,
                call="client.responses.create",
                on_event="""if event.type == "response.output_text.delta":
    print(event.delta, end="", flush=True)""",
                on_answer="print(answer.output_text)",
            ),
            "javascript": Program(
                start=_JAVASCRIPT,
                call="client.responses.create",
                on_event="""if (event.type === "response.output_text.delta") {
  process.stdout.write(event.delta);
}""",
                on_answer="console.log(answer.output_text);",
            ),
        },
    ),
)
