"""Coding agents from npm and PyPI, as their users start them.

`tests/cases/agents/` names the versions; `.ci/run` and `tox -e agents` install them into the
folder that `MODELWAY_AGENTS` names, else into the user's cache. What a user writes to point an
agent at the gateway is read from docs/how-to/agents.md.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.agent_page import sections
from tests.support.running import ALL
from tests.support.waiting import under_load

CASES = Path(__file__).parent.parent / "cases" / "agents"

TIMEOUT = 100.0
"""Seconds for a whole conversation, on a machine at rest."""

_NODE = 20
"""The oldest node that most of them accept."""

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
FOLDER = Path(os.environ.get("MODELWAY_AGENTS") or _CACHE / "modelway" / "agents")
PROGRAMS = FOLDER / "node_modules" / ".bin"
PYTHON = FOLDER / "python" / "bin"
AIDER_PYTHON = FOLDER / "aider" / "bin"
"""An environment of its own: aider wants older libraries than the others."""

Json = dict[str, Any]
Call = tuple[str, Json]


@dataclass(frozen=True)
class Agent:
    """An agent's command line. `section` is its title on the page, `options` are those with which
    it does a task without a person, `tool` is its tool that runs a shell command, `call` the
    arguments of that tool for a command, `image` the call that reads an image. `quiet` keeps it
    from updates and telemetry."""

    section: str
    language: str
    program: str
    options: Sequence[str]
    tool: str
    call: Callable[[str], Json]
    image: Callable[[Path], Call] | None = None
    quiet: Mapping[str, str] = field(default_factory=dict)
    resume: Sequence[str] = ()
    """What goes on with the last session, in place of `options`."""
    node: int = _NODE
    last: str = ""
    """What its last command prints first, if that is how it ends."""
    edit: Callable[[str, str], str] | None = None
    """The text of an answer that writes a file, its name and its content, of an agent that calls
    no tools."""

    @property
    def path(self) -> Path:
        """The program, if it is installed."""
        folders = (PROGRAMS, PYTHON, AIDER_PYTHON)
        return next((f for f in folders if (f / self.program).exists()), PROGRAMS) / self.program

    def missing(self) -> str:
        """Why it cannot run here, "" if it can."""
        if not self.path.exists():
            return f"no {self.program} in {FOLDER}; `tox -e agents` installs it"
        return missing_node(self.node)

    def model(self) -> str:
        """The model that its section names."""
        return sections()[self.section].model()

    def command(self, url: str, model: str, folder: Path, arguments: Sequence[str]) -> list[str]:
        """The command line of a shell that starts it as its section says, in a home folder that
        is made with the first."""
        section = sections()[self.section].at(url, model)
        home = folder / "home"
        if not home.exists():
            home.mkdir()
            section.write(home)
        (folder / "project").mkdir(exist_ok=True)
        script = f"{section.script().rstrip()} {shlex.join(arguments)}"
        # What a shell has put into the background ignores SIGINT, and so do its children.
        return ["env", "--default-signal=INT", "bash", "-ec", script]

    def run(
        self,
        prompt: str,
        url: str,
        model: str,
        folder: Path,
        options: Sequence[str] | None = None,
    ) -> AgentResult:
        """Give it a task in `folder`/project, and wait until it has finished."""
        arguments = [*(self.options if options is None else options), prompt]
        command = self.command(url, model, folder, arguments)
        with self.start(command, folder) as process:
            try:
                output, errors = process.communicate(timeout=under_load(TIMEOUT))
            finally:
                end(process)
        return AgentResult(process.returncode, output, errors, folder / "project")

    def start(self, command: Sequence[str], folder: Path) -> subprocess.Popen[str]:
        """Start a command line in a process group of its own."""
        return subprocess.Popen(
            command,
            cwd=folder / "project",
            env=environment(folder / "home") | self.quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def end(process: subprocess.Popen[str], signal_number: int = signal.SIGKILL) -> None:
    """Signal an agent and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal_number)


def environment(home: Path) -> dict[str, str]:
    """The environment of an agent, with nothing of this user's but the programs."""
    path = f"{PROGRAMS}:{PYTHON}:{AIDER_PYTHON}:{os.environ['PATH']}"
    language = os.environ.get("LANG", "C.UTF-8")
    return {"PATH": path, "LANG": language, "HOME": str(home), "MODELWAY_TOKEN": ALL}


def missing_node(least: int = _NODE) -> str:
    """Why no program of node's can run here, "" if it can."""
    node = shutil.which("node", path=f"{PROGRAMS}:{os.environ['PATH']}")
    if node is None:
        return "no node here"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.lstrip("v").partition(".")[0]) < least:
        return f"node {version.stdout.strip()} here; it needs {least}"
    return ""


@dataclass(frozen=True)
class AgentResult:
    """What an agent that has ended printed, and the folder in which it worked."""

    code: int
    output: str
    errors: str
    project: Path


def _described(command: str) -> Json:
    return {"command": command, "description": "Run a command"}


CLAUDE = Agent(
    section="Claude Code",
    language="messages",
    program="claude",
    options=("--allowedTools=Bash,Read", "--print"),
    tool="Bash",
    call=_described,
    image=lambda file: ("Read", {"file_path": str(file)}),
    quiet={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"},
    resume=("--continue", "--allowedTools=Bash,Read", "--print"),
)
_CODEX = (
    "exec",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "--config=check_for_update_on_startup=false",
    "--config=analytics.enabled=false",
)
CODEX = Agent(
    section="Codex",
    language="responses",
    program="codex",
    options=_CODEX,
    tool="exec_command",
    call=lambda command: {"cmd": command},
    image=lambda file: ("view_image", {"path": str(file)}),
    resume=(*_CODEX, "resume", "--last"),
)
GEMINI = Agent(
    section="Gemini CLI",
    language="generate_content",
    program="gemini",
    options=("--yolo", "--skip-trust", "--prompt"),
    tool="run_shell_command",
    call=_described,
    image=lambda file: ("read_file", {"file_path": str(file)}),
    quiet={
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(CASES / "gemini-settings.json"),
    },
    resume=("--yolo", "--skip-trust", "--resume", "latest", "--prompt"),
)
OPENCODE = Agent(
    section="opencode",
    language="chat_completions",
    program="opencode",
    options=("run", "--auto"),
    tool="bash",
    call=_described,
    image=lambda file: ("read", {"filePath": str(file)}),
    quiet={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    resume=("run", "--auto", "--continue"),
)
QWEN = Agent(
    section="Qwen Code",
    language="chat_completions",
    program="qwen",
    options=("--yolo",),
    tool="run_shell_command",
    call=lambda command: {**_described(command), "is_background": False},
    image=lambda file: ("read_file", {"file_path": str(file)}),
    quiet={
        "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(CASES / "gemini-settings.json"),
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
    },
    resume=("--yolo", "--continue"),
)
COPILOT = Agent(
    section="Copilot CLI",
    language="chat_completions",
    program="copilot",
    options=("--allow-all-tools", "--allow-all-paths", "--prompt"),
    tool="bash",
    call=_described,
    image=lambda file: ("view", {"path": str(file)}),
    quiet={"COPILOT_OFFLINE": "true"},
    resume=("--allow-all-tools", "--allow-all-paths", "--continue", "--prompt"),
)
KIMI = Agent(
    section="Kimi Code",
    language="chat_completions",
    program="kimi",
    options=("--prompt",),
    tool="Bash",
    call=_described,
    image=lambda file: ("ReadMediaFile", {"path": str(file)}),
    quiet={"KIMI_CODE_NO_AUTO_UPDATE": "1"},
    resume=("--continue", "--prompt"),
    node=22,
)
CLINE = Agent(
    section="Cline",
    language="chat_completions",
    program="cline",
    options=(),
    tool="run_commands",
    call=lambda command: {"commands": [command]},
    image=lambda file: ("read_files", {"files": [{"path": str(file)}]}),
    quiet={"CLINE_NO_AUTO_UPDATE": "1"},
)
MINI = Agent(
    section="mini-swe-agent",
    language="chat_completions",
    program="mini",
    options=("--yolo", "--exit-immediately", "--task"),
    tool="bash",
    call=lambda command: {"command": command},
    last="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; ",
)
CONTINUE = Agent(
    section="Continue",
    language="chat_completions",
    program="cn",
    options=("--auto", "--print"),
    tool="Bash",
    call=lambda command: {"command": command},
    quiet={"CONTINUE_METRICS_ENABLED": "0", "CONTINUE_CLI_ENABLE_TELEMETRY": "0"},
    resume=("--resume", "--auto", "--print"),
)
AIDER = Agent(
    section="aider",
    language="chat_completions",
    program="aider",
    options=("--yes-always", "--no-git", "--message"),
    tool="",
    call=lambda command: {},
    quiet={
        "AIDER_CHECK_UPDATE": "false",
        "AIDER_ANALYTICS": "false",
        "AIDER_EDIT_FORMAT": "whole",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    },
    edit=lambda name, content: f"Written.\n\n{name}\n```\n{content}\n```\n",
)
AGENTS = (CLAUDE, CODEX, GEMINI, OPENCODE, QWEN, COPILOT, KIMI, CLINE, MINI, CONTINUE, AIDER)
