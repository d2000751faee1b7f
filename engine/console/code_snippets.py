"""Programs in each chat format, ready to paste: curl, and the vendor's SDK in Python and
JavaScript. The token is in the variable TOKEN."""

from __future__ import annotations

import json
import shlex
from urllib.parse import quote

from msgspec.structs import asdict

from engine.console.chat_formats import RoutedFormat
from engine.dialects.interface.chat_format import Program


def programs(routed: RoutedFormat, base: str) -> dict[str, dict[str, str]]:
    """The parts of the SDK programs by language, with the base URL filled in."""
    return {
        language: {**asdict(program), "start": _start(program, routed, base)}
        for language, program in routed.format.programs.items()
    }


def snippets(routed: RoutedFormat, base: str, model: str) -> list[tuple[str, str]]:
    """Each language with a program that sends one message."""
    python, script = (routed.format.programs[name] for name in ("python", "javascript"))
    arguments = routed.format.arguments(model)
    keywords = "".join(f"    {key}={json.dumps(value)},\n" for key, value in arguments.items())
    pairs = ", ".join(f"{key}: {json.dumps(value)}" for key, value in arguments.items())
    return [
        ("curl", _curl(routed, base, model)),
        (
            "Python",
            f"{_start(python, routed, base)}\n"
            f"answer = {python.call}(\n{keywords})\n{python.on_answer}",
        ),
        (
            "JavaScript",
            f"{_start(script, routed, base)}\n"
            f"const answer = await {script.call}({{ {pairs} }});\n{script.on_answer}",
        ),
    ]


def _start(program: Program, routed: RoutedFormat, base: str) -> str:
    """The start of a program; a JSON string is a literal of Python and of JavaScript."""
    text = program.start.replace("@BASE@", json.dumps(base + routed.prefix))
    return text.replace("@VERSION@", json.dumps(routed.version))


def _curl(routed: RoutedFormat, base: str, model: str) -> str:
    form = routed.format
    body = (form.body or form.arguments)(model)
    url = base + routed.path.replace("{model}", quote(model, safe=""))
    return (
        f"curl {shlex.quote(url)} \\\n"
        f"  {form.curl_headers} \\\n"
        '  -H "Content-Type: application/json" \\\n'
        f"  -d {shlex.quote(json.dumps(body, ensure_ascii=False))}"
    )
