"""The last request of each agent's task with a model of its own vendor, as a case file.

`python -m tests.support.agent_requests` writes `tests/cases/agents/requests/` anew. Structure and
names stay as the agent sends them; long texts, which are the vendors', and everything that names a
machine or a session are replaced.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from tests.support.agent_model import AgentModel
from tests.support.agents import CASES, CLAUDE, CODEX, GEMINI, Agent
from tests.support.recording import recorder

REQUESTS = CASES / "requests"

RECORDED: dict[str, tuple[Agent, str]] = {
    "claude-sonnet": (CLAUDE, "claude-sonnet-4-5"),
    "claude-opus": (CLAUDE, "claude-opus-4-8"),
    "codex-any": (CODEX, "any"),
    "codex-gpt": (CODEX, "gpt-5.5"),
    "gemini-2": (GEMINI, "gemini-2.5-pro"),
    "gemini-3": (GEMINI, "gemini-3.1-pro-preview"),
}
"""The files, with the agent and the model of each."""

_MAX_LENGTH = 60
_WORD = "seven"
"""What the second command prints."""

_NAMES = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|/tmp/[^\s\"\\]*|[0-9a-f]{64}|\d{13}")


def recorded(agent: Agent, model: str) -> Any:
    """The request with the results of both calls of a tool."""
    commands = ("printf seven > note.txt", "cat note.txt")
    with recorder() as upstream, tempfile.TemporaryDirectory() as folder:
        steps = [[(agent.tool, agent.call(command))] for command in commands]
        upstream.speak = AgentModel({0: steps})
        result = agent.run("Write seven to note.txt.", upstream.url, model, Path(folder))
        assert result.code == 0, result.errors
        return _plain(json.loads(upstream.last.body), {})


def _plain(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each, names) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, names) for each in value]
    if not isinstance(value, str):
        return value
    if len(value) > _MAX_LENGTH:
        return f"A text with {_WORD}." if _WORD in value else "A text."
    return _NAMES.sub(lambda match: names.setdefault(match[0], str(len(names))), value)


def main() -> None:
    REQUESTS.mkdir(exist_ok=True)
    for name, (agent, model) in RECORDED.items():
        text = json.dumps(recorded(agent, model), separators=(",", ":"), ensure_ascii=False)
        (REQUESTS / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
