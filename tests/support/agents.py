"""Coding agents of the vendors, from npm, and an upstream that calls their tools.

`tests/cases/agents/package.json` names the versions; `.ci/run` installs them into the folder that
`MODELWAY_AGENTS` names, else into the user's cache.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.translations import languages
from engine.translations.language import Language, TargetLanguage
from tests.support import translations
from tests.support.recording import ReceivedRequest, answer
from tests.support.running import ALL
from tests.support.vendors import EVENT_STREAM

CASES = Path(__file__).parent.parent / "cases" / "agents"

TIMEOUT = 100.0
"""Seconds for a whole conversation, on a busy machine."""

_NODE = 20
"""The oldest node that all of them accept."""

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
FOLDER = Path(os.environ.get("MODELWAY_AGENTS") or _CACHE / "modelway" / "agents")

Json = dict[str, Any]


@dataclass(frozen=True)
class Agent:
    """An agent's command line. `tool` is its tool that runs a shell command, `call` the arguments
    of that tool for a command; `environment` points it at a gateway, given the URL, the model and
    its home folder."""

    language: str
    program: str
    options: Sequence[str]
    tool: str
    call: Callable[[str], Json]
    environment: Callable[[str, str, Path], dict[str, str]]

    @property
    def path(self) -> Path:
        """The program, if it is installed."""
        return FOLDER / "node_modules" / ".bin" / self.program

    def missing(self) -> str:
        """Why it cannot run here, "" if it can."""
        node = shutil.which("node")
        if node is None:
            return "no node here"
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
        if int(version.stdout.lstrip("v").partition(".")[0]) < _NODE:
            return f"node {version.stdout.strip()} here; the agents need {_NODE}"
        if not self.path.exists():
            return f"no {self.program} in {FOLDER}; `.ci/run` installs it from npm"
        return ""

    def run(self, prompt: str, url: str, model: str, folder: Path) -> AgentResult:
        """Give it a task in `folder`/project, and wait until it has finished."""
        home, project = folder / "home", folder / "project"
        home.mkdir()
        project.mkdir(exist_ok=True)
        system = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        process = subprocess.run(
            [self.path, *self.options, prompt],
            cwd=project,
            env=system | {"HOME": str(home), **self.environment(url, model, home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return AgentResult(process.returncode, process.stdout, process.stderr, project)


@dataclass(frozen=True)
class AgentResult:
    """What an agent that has ended printed, and the folder in which it worked."""

    code: int
    output: str
    errors: str
    project: Path


def _claude(url: str, model: str, home: Path) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_AUTH_TOKEN": ALL,
        "ANTHROPIC_MODEL": model,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


_CODEX = """
model = "{model}"
model_provider = "gateway"
check_for_update_on_startup = false
analytics = {{enabled = false}}
[model_providers.gateway]
name = "gateway"
base_url = "{url}/v1"
env_key = "GATEWAY_TOKEN"
wire_api = "responses"
"""


def _codex(url: str, model: str, home: Path) -> dict[str, str]:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(_CODEX.format(model=model, url=url))
    return {"GATEWAY_TOKEN": ALL}


_GEMINI = {
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "telemetry": {"enabled": False},
}


def _gemini(url: str, model: str, home: Path) -> dict[str, str]:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(_GEMINI))
    return {
        "GEMINI_API_KEY": ALL,
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_MODEL": model,
        "GOOGLE_GEMINI_BASE_URL": url,
    }


CLAUDE = Agent(
    language="messages",
    program="claude",
    options=("--allowedTools=Bash", "--print"),
    tool="Bash",
    call=lambda command: {"command": command, "description": "Run a command"},
    environment=_claude,
)
CODEX = Agent(
    language="responses",
    program="codex",
    options=("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
    tool="exec_command",
    call=lambda command: {"cmd": command},
    environment=_codex,
)
GEMINI = Agent(
    language="generate_content",
    program="gemini",
    options=("--yolo", "--skip-trust", "--prompt"),
    tool="run_shell_command",
    call=lambda command: {"command": command, "description": "Run a command"},
    environment=_gemini,
)


@dataclass(frozen=True)
class ToolCalls:
    """An upstream's answers to an agent, in the vendor's stream format: tool calls one by one, then
    a text. A request that does not declare the tool gets the text."""

    calls: Sequence[tuple[str, Json]]

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        path = received.target.partition("?")[0]
        language = next((each for each in languages() if each.speaks(path)), None)
        if language is None:  # an agent that probes the address
            answer(status=404)(received, sock)
            return
        body = json.loads(received.body)
        number = len(tool_results(language, body))
        texts = translations.CASES / language.name / "upstream"
        if not (b'"stream":true' in received.body or path.endswith(":streamGenerateContent")):
            answer((texts / "text.json").read_bytes())(received, sock)
        elif number < len(self.calls) and f'"{self.calls[number][0]}"'.encode() in received.body:
            stream = _stream(language, body.get("model", ""), number, *self.calls[number])
            answer(stream, EVENT_STREAM)(received, sock)
        else:
            answer((texts / "text.sse").read_bytes(), EVENT_STREAM)(received, sock)


def _stream(language: Language, model: str, number: int, name: str, arguments: Json) -> bytes:
    """An answer that calls a tool, its arguments in two pieces."""
    text = json.dumps(arguments)
    half = len(text) // 2
    values = {
        "{model}": model,
        "{n}": str(number),
        "{name}": name,
        "{arguments}": text,
        "{begin}": json.dumps(text[:half])[1:-1],
        "{end}": json.dumps(text[half:])[1:-1],
    }
    stream = (CASES / f"{language.name}.sse").read_text()
    for mark, value in values.items():
        stream = stream.replace(mark, value)
    return stream.encode()


def tool_results(language: TargetLanguage, body: Json) -> list[Json]:
    """The results of tools in a request, in their order."""
    if language.name == "chat_completions":
        return [each for each in body["messages"] if each["role"] == "tool"]
    if language.name == "responses":
        kinds = ("function_call_output", "custom_tool_call_output")
        return [each for each in body["input"] if each.get("type") in kinds]
    turns = body.get("messages", body.get("contents"))
    blocks = [
        block
        for turn in turns
        for block in turn.get("content", turn.get("parts"))
        if isinstance(block, dict)
    ]
    names = ("toolResult", "functionResponse")
    return [o for o in blocks if o.get("type") == "tool_result" or any(each in o for each in names)]
