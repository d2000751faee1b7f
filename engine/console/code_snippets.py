"""Calls in each format, ready to be pasted: curl, and the vendors' SDKs in Python and JavaScript.

The token stands there as the variable TOKEN.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from engine.console.chat_formats import Format


@dataclass(frozen=True, slots=True)
class Program:
    """How an SDK is used: what makes the client, the call (and that for streams, where it is
    another), what to do with each event of a stream and with a whole answer.

    `@BASE@` and `@VERSION@` stand for strings.
    """

    start: str
    call: str
    each: str
    whole: str
    stream: str = ""


_OPENAI_PYTHON = """import os
from openai import OpenAI

client = OpenAI(base_url=@BASE@, api_key=os.environ["TOKEN"])"""
_OPENAI_JAVASCRIPT = """import OpenAI from "openai";

const client = new OpenAI({ baseURL: @BASE@, apiKey: process.env.TOKEN });"""

PROGRAMS: dict[str, dict[str, Program]] = {
    "chat": {
        "python": Program(
            start=_OPENAI_PYTHON,
            call="client.chat.completions.create",
            each="""if event.choices:
    print(event.choices[0].delta.content or "", end="", flush=True)""",
            whole="print(answer.choices[0].message.content)",
        ),
        "javascript": Program(
            start=_OPENAI_JAVASCRIPT,
            call="client.chat.completions.create",
            each='process.stdout.write(event.choices[0]?.delta?.content ?? "");',
            whole="console.log(answer.choices[0].message.content);",
        ),
    },
    "messages": {
        "python": Program(
            start="""import os
from anthropic import Anthropic

client = Anthropic(base_url=@BASE@, api_key=os.environ["TOKEN"])""",
            call="client.messages.create",
            each="""if event.type == "content_block_delta" and event.delta.type == "text_delta":
    print(event.delta.text, end="", flush=True)""",
            whole="print(answer.content[0].text)",
        ),
        "javascript": Program(
            start="""import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: @BASE@, apiKey: process.env.TOKEN });""",
            call="client.messages.create",
            each='if (event.delta?.type === "text_delta") process.stdout.write(event.delta.text);',
            whole="console.log(answer.content[0].text);",
        ),
    },
    "generate": {
        "python": Program(
            start="""import os
from google import genai

client = genai.Client(
    api_key=os.environ["TOKEN"],
    http_options={"base_url": @BASE@, "api_version": @VERSION@},
)""",
            call="client.models.generate_content",
            stream="client.models.generate_content_stream",
            each='print(event.text or "", end="", flush=True)',
            whole="print(answer.text)",
        ),
        "javascript": Program(
            start="""import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: process.env.TOKEN,
  httpOptions: { baseUrl: @BASE@, apiVersion: @VERSION@ },
});""",
            call="client.models.generateContent",
            stream="client.models.generateContentStream",
            each='process.stdout.write(event.text ?? "");',
            whole="console.log(answer.text);",
        ),
    },
    "responses": {
        "python": Program(
            start=_OPENAI_PYTHON,
            call="client.responses.create",
            each="""if event.type == "response.output_text.delta":
    print(event.delta, end="", flush=True)""",
            whole="print(answer.output_text)",
        ),
        "javascript": Program(
            start=_OPENAI_JAVASCRIPT,
            call="client.responses.create",
            each="""if (event.type === "response.output_text.delta") {
  process.stdout.write(event.delta);
}""",
            whole="console.log(answer.output_text);",
        ),
    },
}

_TOKEN_HEADERS = {
    "chat": '-H "Authorization: Bearer $TOKEN"',
    "messages": '-H "x-api-key: $TOKEN" -H "anthropic-version: 2023-06-01"',
    "generate": '-H "x-goog-api-key: $TOKEN"',
    "responses": '-H "Authorization: Bearer $TOKEN"',
}


def programs(offered: Format, base: str) -> dict[str, dict[str, str]]:
    """The parts of a program by language, with the addresses put in."""
    known = PROGRAMS[offered.name]
    return {
        language: {**asdict(program), "start": _start(program, offered, base)}
        for language, program in known.items()
    }


def snippets(offered: Format, base: str, model: str) -> list[tuple[str, str]]:
    """The languages with a first call in each."""
    python, script = (PROGRAMS[offered.name][name] for name in ("python", "javascript"))
    said = _arguments(offered.name, model)
    named = "".join(f"    {key}={json.dumps(value)},\n" for key, value in said.items())
    pairs = ", ".join(f"{key}: {json.dumps(value)}" for key, value in said.items())
    return [
        ("curl", _curl(offered, base, model)),
        (
            "Python",
            f"{_start(python, offered, base)}\nanswer = {python.call}(\n{named})\n{python.whole}",
        ),
        (
            "JavaScript",
            f"{_start(script, offered, base)}\n"
            f"const answer = await {script.call}({{ {pairs} }});\n{script.whole}",
        ),
    ]


def _arguments(name: str, model: str) -> dict[str, Any]:
    if name == "generate":
        return {"model": model, "contents": "Hello!"}
    if name == "responses":
        return {"model": model, "input": "Hello!"}
    least = {"max_tokens": 1024} if name == "messages" else {}
    return {"model": model, **least, "messages": [{"role": "user", "content": "Hello!"}]}


def _start(program: Program, offered: Format, base: str) -> str:
    """JSON's strings are strings of Python and JavaScript alike."""
    filled = program.start.replace("@BASE@", json.dumps(base + offered.prefix))
    return filled.replace("@VERSION@", json.dumps(offered.version))


def _curl(offered: Format, base: str, model: str) -> str:
    body = _arguments(offered.name, model)
    if offered.name == "generate":
        body = {"contents": [{"parts": [{"text": "Hello!"}]}]}
    url = base + offered.path.replace("{model}", quote(model, safe=""))
    return (
        f"curl {shlex.quote(url)} \\\n"
        f"  {_TOKEN_HEADERS[offered.name]} \\\n"
        '  -H "Content-Type: application/json" \\\n'
        f"  -d {shlex.quote(json.dumps(body, ensure_ascii=False))}"
    )
