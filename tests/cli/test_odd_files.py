"""Unusual files, names and outputs: every command reports the error in words."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine import cli
from tests.support.rehearsing import ENVIRON, write
from tests.support.thorough import diagonal, some

COMMANDS = {
    "check": ["check", "FILE"],
    "check -c": ["check", "-c", "FILE"],
    "sarif": ["check", "-c", "FILE", "--format", "sarif"],
    "github": ["check", "-c", "FILE", "--format", "github"],
    "json": ["check", "-c", "FILE", "--format", "json"],
    "routes": ["routes", "-c", "FILE"],
    "explain": ["explain", "-c", "FILE", "GET", "/v1/items/7"],
    "explain -d": ["explain", "POST", "/v1/chat", "-d", "@FILE"],
    "test": ["test", "-c", "FILE"],
    "cases": ["test", "FILE"],
    "diff from": ["diff", "FILE", "gateway.yaml"],
    "diff to": ["diff", "gateway.yaml", "FILE"],
    "reload": ["reload", "-c", "FILE"],
    "serve": ["serve", "-c", "FILE"],
    "mock": ["mock", "-c", "FILE"],
    "usage": ["usage", "-c", "FILE"],
    "token": ["token", "list", "-c", "FILE"],
    "import": ["token", "import", "FILE", "--database", "sqlite:///x.db"],
    "top": ["top", "-c", "FILE", "--once"],
}
SPEC = """version: 1
specs: {{a: {{document: {}}}}}
upstreams: {{u: {{url: "http://127.0.0.1:9"}}}}
routes: [{{operations: "a.*", to: [{{upstream: u}}]}}]
"""
LONG = "x" * 5000
FILES = {
    "empty": b"",
    "binary": bytes(range(256)) * 9,
    "nul": b"version: 1\n\0",
    "utf16": "version: 1".encode("utf-16"),
    "deep": b"[" * 5000,
    "list": b"- a\n",
    "circle": b"a: &a [*a]\n",
    "long-name": SPEC.format(LONG).encode(),
    "nul-name": SPEC.format('"a\\0b"').encode(),
    "folder-name": SPEC.format("folder").encode(),
    "device": SPEC.format("/dev/null").encode(),
    "overlay": SPEC.format(f'shop.yaml, overlays: [folder, "a\\0b", {LONG}]').encode(),
    "include": (SPEC.format("shop.yaml") + f'include: [folder, "a\\0b", "[", {LONG}]\n').encode(),
    "secret": SPEC.format("shop.yaml").replace("127.0.0.1:9", "${file:a\\0b}").encode(),
    "tls": SPEC.format("shop.yaml").replace('9"', '9", tls: {ca: "a\\0b"}').encode(),
}
NAMES = [*FILES, "missing", "folder", "circular-link", "empty/below", "odd-\udcff", LONG]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    for variable in ("MODELWAY_CONFIG", "MODELWAY_DATABASE"):
        monkeypatch.delenv(variable, raising=False)
    write(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "circular-link").symlink_to("circular-link")
    for file, content in FILES.items():
        (tmp_path / file).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reports_an_unusable_file(command: str) -> None:
    for file in NAMES:
        if (command, file) == ("import", "empty"):
            continue  # nobody to take in is no mistake
        words = [word.replace("FILE", file) for word in COMMANDS[command]]
        result = CliRunner().invoke(cli.main, words)
        wrong = result.exception
        assert isinstance(wrong, SystemExit), (file[:50], wrong, result.output[-300:])
        assert result.exit_code in (1, 2), (file[:50], result.output[-300:])
        assert result.output.strip(), file[:50]


@pytest.mark.parametrize("name", ["empty/below", LONG])
def test_a_folder_that_cannot_be_created_is_reported(name: str) -> None:
    result = CliRunner().invoke(cli.main, ["init", name])
    assert isinstance(result.exception, SystemExit), result.exception
    assert "cannot be written" in result.output


REFUSING = """import sys
from pathlib import Path
from engine import cli

def refusing(function):
    def call(path, *arguments, **more):
        if "closed" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return function(path, *arguments, **more)
    return call

for name in ("stat", "open", "read_bytes", "read_text", "mkdir"):
    setattr(Path, name, refusing(getattr(Path, name)))
cli.main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "words",
    some(
        [
            ["check", "-c", "closed/gateway.yaml"],
            ["check", "-c", "inside"],
            ["init", "closed/folder"],
            ["token", "create", "--name", "x", "--database", "sqlite:///closed/x.db"],
            ["token", "list", "--database", "sqlite:///closed/x.db"],
            ["usage", "--database", "sqlite:///closed/x.db"],
        ],
        4,
    ),
)
def test_a_file_without_permission_is_reported(folder: Path, words: list[str]) -> None:
    """Root may read every file, so the error of the file system is simulated."""
    (folder / "inside").write_text(SPEC.format("closed/x.yaml"))
    result = run(words, program=["-c", REFUSING], stdout=subprocess.PIPE)
    assert result.returncode in (1, 2), result.stderr
    assert "Traceback" not in result.stderr
    assert "denied" in result.stdout + result.stderr or "cannot be opened" in result.stderr


def test_a_cases_body_that_cannot_be_read_is_a_problem_with_a_place(folder: Path) -> None:
    request = "{{method: POST, path: /, body_file: {}}}"
    case = "tests: [{{name: n, request: " + request + ", expect: {{status: 404}}}}]\n"
    for message, words in (
        ("folder", "Is a directory"),
        ('"a\\0b"', "such a name"),
        ("no", "no file"),
    ):
        (folder / "x.yaml").write_text(case.format(message))
        result = CliRunner().invoke(cli.main, ["test", "x.yaml"])
        assert result.exit_code == 1
        assert "x.yaml:1:6" in result.output
        assert words in result.output


EVIL = """openapi: 3.1.0
info: {title: x, version: "1"}
paths:
  "/a\\e[31m[/b]":
    get: {operationId: "op[/x]:smile:\\e[2J\\nevil.yaml:1:1: error: forged", responses: {}}
"""


@pytest.mark.parametrize(
    "words",
    [
        ["check", "-c", "evil"],
        ["routes", "-c", "evil"],
        ["explain", "-c", "evil", "GET", "/a"],
        ["diff", "gateway.yaml", "evil"],
    ],
)
def test_file_names_cannot_control_a_terminal(folder: Path, words: list[str]) -> None:
    (folder / "evil.yaml").write_text(EVIL)
    config = SPEC.format("evil.yaml").replace('"a.*"', '["a.*", "a.\\e[2J\\nforged: x"]')
    if words[0] != "check":
        config = SPEC.format("evil.yaml")
    (folder / "evil").write_text(config)
    output = CliRunner().invoke(cli.main, words, color=True).output
    assert output.strip()
    assert "\x1b[2J" not in output
    assert "\x1b[31m[/b]" not in output
    assert not [
        line for line in output.splitlines() if line.startswith(("forged", "evil.yaml:1:1"))
    ]


def run(
    words: list[str], *, program: Sequence[str] = ("-m", "engine"), **more: object
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *program, *words]
    root = Path(cli.__file__).parents[2]
    environ = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.run(
        command, env=environ, stderr=subprocess.PIPE, text=True, timeout=60, check=False, **more
    )  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize(
    ("words", "unbuffered"),
    diagonal([["check"], ["routes"], ["check", "--explain", "MW101"]], ["", "1"]),
)
def test_a_full_disk_is_reported(
    words: list[str], unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with open("/dev/full", "w") as full:
        result = run(words, stdout=full)
    assert (result.returncode, "No space left" in result.stderr) == (1, True)
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "words", some([["routes"], ["check", "-q"], ["explain", "GET", "/v1/items/7"]], 1)
)
def test_a_closed_output_is_no_error(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as nobody:
        assert "Traceback" not in run(words, stdout=nobody).stderr
    closed = run(words, preexec_fn=lambda: os.close(1))
    assert (closed.returncode, closed.stderr) == (0, "")
