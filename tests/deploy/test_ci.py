"""What users run in CI: the action and the job of GitLab find what a change weakens, and say so."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs

import pytest

from tests.support import yaml_text
from tests.support.commands import DOCUMENT, GOOD, modelway
from tests.support.paths import ROOT
from tests.support.tutorial import descriptor, warm_commands
from tests.support.warm_command import VARIABLE

SCRIPT = ROOT / "deploy" / "modelway-ci"
LIMITED = GOOD.replace("routes: [{", "routes: [{policies: [{max_body: 1MB}], ")


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="it compares commits of git")


def git(folder: Path, *words: str) -> str:
    user = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.check_output(["git", *user, *words], cwd=folder, text=True).strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose config has a limit, and the command on the path."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (tmp_path / "warm").mkdir()
    warm_commands(tmp_path / "warm")
    git(folder, "init", "--quiet")
    (folder / "shop.yaml").write_text(DOCUMENT)
    (folder / "gateway.yaml").write_text(LIMITED)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    return folder


def command_folder(folder: Path) -> Path:
    """A folder with the command, which starts cold: what lies in the repository is not imported."""
    commands = folder.parent / "bin"
    commands.mkdir(exist_ok=True)
    program = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {ROOT}/modelway.py "$@"\n'
    (commands / "modelway").write_text(program)
    (commands / "modelway").chmod(0o755)
    return commands


def run(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PATH": f"{folder.parent / 'warm' / 'bin'}:{os.environ['PATH']}",
        VARIABLE: str(descriptor()),
        "MODELWAY_COMMENT": str(folder.parent / "comment.md"),
        "MODELWAY_BASE": git(folder, "rev-parse", "HEAD"),
        **variables,
    }
    return subprocess.run(
        [SCRIPT],
        cwd=folder,
        env=environment,
        pass_fds=[descriptor()],
        capture_output=True,
        text=True,
        check=False,
    )


@needs_git
def test_what_is_weaker_fails_with_an_annotation_and_a_comment(repository):
    (repository / "gateway.yaml").write_text(LIMITED.replace("1MB", "2MB"))
    result = run(repository)
    assert (result.returncode, result.stderr) == (1, "")
    assert "gateway.yaml: no problems" in result.stdout
    assert "no test cases" in result.stdout
    assert re.search(r"(?m)^::error file=gateway.yaml,.*title=weaker%3A", result.stdout)
    comment = (repository.parent / "comment.md").read_text("utf-8")
    assert comment.startswith("**modelway diff**: 1 weaker")
    assert "2MB" in comment
    assert git(repository, "worktree", "list").count("\n") == 0


@needs_git
def test_without_a_difference_it_passes(repository):
    result = run(repository)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("no difference\n")


@needs_git
def test_what_the_change_names_is_no_command_of_the_runner(repository):
    """Names of a fork's config, in annotations and in the comment."""
    name = "x\n::error::a%0A::stop-commands::b `|<img src=x> @team [c](http://d)"
    model = f"models: {{{json.dumps(name)}: {{to: [{{upstream: main}}]}}}}\n"
    case = {"name": name, "request": {"method": "GET", "path": "/"}, "expect": {"status": 200}}
    (repository / "gateway.yaml").write_text(LIMITED + model + f"tests: [{json.dumps(case)}]\n")
    result = run(repository)
    assert "stop-commands" in result.stdout
    at_a_line = re.compile(r"::(error|warning|notice) file=[\w./]+,line=")
    commands = [line for line in result.stdout.splitlines() if line.startswith("::")]
    assert [line for line in commands if not at_a_line.match(line)] == []
    comment = (repository.parent / "comment.md").read_text("utf-8")
    assert [line for line in comment.splitlines() if "<img" in re.sub("`[^`]*`", "", line)] == []


@needs_git
def test_a_broken_config_is_no_comment(repository):
    (repository / "gateway.yaml").write_text(LIMITED.replace("main}", "mian}"))
    result = run(repository)
    assert result.returncode == 1
    assert "unknown upstream 'mian'" in result.stdout
    assert (repository.parent / "comment.md").read_text("utf-8") == ""


def test_no_step_of_the_action_has_text_of_others_in_its_script():
    """An expression in a script becomes code: a config named `$(...)` would run."""
    steps = yaml_text.load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 3
    assert [script for script in scripts if "${{" in script] == []


# The comment of the action


def comment_by_action(folder: Path, listed: str) -> list[str]:
    """What the action's step asks of GitHub where it has these comments, an answer of its API."""
    steps = yaml_text.load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    (step,) = [step for step in steps if step.get("name") == "Comment"]
    gh = f"""#!/bin/bash
echo "$*" >> {folder}/asked
while [ $# -gt 0 ] && [ "$1" != --jq ]; do shift; done
[ $# = 0 ] || jq -r "$2" {folder}/listed
"""
    (folder / "gh").write_text(gh)
    (folder / "gh").chmod(0o755)
    (folder / "listed").write_text(listed)
    (folder / "comment.md").write_text("**modelway diff**: 1 weaker")
    environment = os.environ | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "GITHUB_REPOSITORY": "o/r",
        "NUMBER": "7",
        "COMMENT": str(folder / "comment.md"),
    }
    subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], env=environment, check=True)
    return (folder / "asked").read_text().splitlines()


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq stands in for that of gh")
def test_the_action_replaces_its_own_comment_alone(tmp_path):
    human = {"id": 1, "user": {"type": "User"}, "body": "**modelway diff**: mine"}
    other = {"id": 2, "user": {"type": "Bot"}, "body": "Coverage"}
    earlier = {"id": 3, "user": {"type": "Bot"}, "body": "**modelway diff**: no difference"}
    field = f"--field body=@{tmp_path}/comment.md"
    first = comment_by_action(tmp_path, json.dumps([human, other]))
    assert first[-1] == f"api --silent repos/o/r/issues/7/comments {field}"
    again = comment_by_action(tmp_path, json.dumps([human, other, earlier]))
    assert again[-1] == f"api --silent --method PATCH repos/o/r/issues/comments/3 {field}"


# GitLab


OWNER, STRANGER = 41, 42
"""Users of GitLab: that of the token, and another one."""


class Notes(BaseHTTPRequestHandler):
    """The notes of a merge request, as GitLab's API has them."""

    notes: ClassVar[list[dict[str, Any]]] = []

    def do_GET(self) -> None:
        assert self.headers["private-token"] == "glpat"
        path, _, query = self.path.partition("?")
        if path == "/user":
            return self.answer({"id": OWNER})
        options = {name: int(values[0]) for name, values in parse_qs(query).items()}
        size = options["per_page"]
        return self.answer(self.notes[(options["page"] - 1) * size :][:size])

    def do_POST(self) -> None:
        self.add(OWNER, self.body())
        self.answer({})

    @classmethod
    def add(cls, author: int, body: str) -> None:
        cls.notes.append({"id": len(cls.notes) + 1, "author": {"id": author}, "body": body})

    def do_PUT(self) -> None:
        self.notes[int(self.path.rpartition("/")[2]) - 1]["body"] = self.body()
        self.answer({})

    def body(self) -> str:
        assert self.headers["private-token"] == "glpat"
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        return parse_qs(text)["body"][0]

    def answer(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def gitlab() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of GitLab's API, and the notes of its merge request."""
    Notes.notes = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Notes) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", Notes.notes
        server.shutdown()
        thread.join()


def run_gitlab(folder: Path, api: str, base: str) -> subprocess.CompletedProcess[str]:
    """The job's `script` and `after_script`, as a runner of GitLab runs them."""
    job = yaml_text.load((ROOT / "deploy/gitlab-ci.yml").read_text("utf-8"))["modelway"]
    environment = os.environ | {
        **job["variables"],
        "PATH": f"{command_folder(folder)}:{os.environ['PATH']}",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
        "MODELWAY_GITLAB_TOKEN": "glpat",
        "CI_API_V4_URL": api,
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "7",
    }
    result, after = (
        subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(job[part])],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )
        for part in ("script", "after_script")
    )  # fmt: skip
    assert (after.returncode, after.stderr) == (0, "")
    return result


@needs_git
@pytest.mark.skipif(shutil.which("curl") is None, reason="the job asks GitLab with curl")
def test_gitlab_gets_reports_and_one_comment(repository, gitlab):
    api, notes = gitlab
    base = git(repository, "rev-parse", "HEAD")
    Notes.add(STRANGER, "**modelway diff**: of a stranger")
    for _ in range(100):
        Notes.add(OWNER, "Of a reader.")
    before = [note["body"] for note in notes]
    (repository / "json.py").write_text("raise SystemExit('code of the merge request')")
    for size in ("2MB", "3MB"):
        (repository / "gateway.yaml").write_text(LIMITED.replace("1MB", size))
        result = run_gitlab(repository, api, base)
        assert result.returncode == 3, result.stderr
        assert json.loads((repository / "gl-code-quality-report.json").read_text()) == []
        *others, comment = [note["body"] for note in notes]
        assert others == before
        assert comment.startswith("**modelway diff**: 1 weaker")
        assert size in comment
        assert "| `gateway.yaml:4` |" in comment
    assert git(repository, "worktree", "list").count("\n") == 0


@needs_git
def test_gitlab_without_a_config_before(repository, gitlab):
    git(repository, "rm", "--quiet", "gateway.yaml")
    git(repository, "commit", "--quiet", "-m", "none")
    (repository / "gateway.yaml").write_text(LIMITED)
    result = run_gitlab(repository, gitlab[0], git(repository, "rev-parse", "HEAD"))
    assert result.returncode == 0, result.stderr
    assert "nothing is compared" in result.stdout


def commands() -> list[str]:
    """Every command of modelway in the files for CI."""
    job = yaml_text.load((ROOT / "deploy/gitlab-ci.yml").read_text("utf-8"))["modelway"]
    action = yaml_text.load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    lines = [*job["script"], *(step.get("run", "") for step in action), SCRIPT.read_text("utf-8")]
    return sorted(
        set(re.findall(r"modelway (?:check|test|diff)\b(?: --format \w+)?", "\n".join(lines)))
    )


@pytest.mark.parametrize("command", commands())
def test_its_commands_and_formats_exist(command):
    name, *options = command.split()[1:]
    assert modelway(name, *options, "--help").exit_code == 0


def test_the_lines_for_completion_are_of_the_command():
    page = (ROOT / "docs/how-to/ci.md").read_text("utf-8")
    commands = re.findall(r"modelway (completion \w+)", page)
    assert commands == ["completion bash", "completion zsh", "completion fish"]
    for words in commands:
        assert modelway(*words.split()).exit_code == 0
