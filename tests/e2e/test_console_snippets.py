"""The snippets of the home page and the programs of the playground run as they are."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.agents import FOLDER
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import chat, choose, enter
from tests.support.playground_cases import CASES, HEAD, case, streamed
from tests.support.recording import Recorder
from tests.support.running import ALL, Platform, Running, environment
from tests.support.scripted import script as steps
from tests.support.thorough import THOROUGH, some

pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no Chromium here; `apt-get install chromium` brings one"
)

FORMATS = [
    ("chat", "gpt-4o"),
    ("responses", "gpt-4o"),
    ("messages", "claude-sonnet"),
    ("generate", "gemini-2.5-flash"),
]
MESSAGE = 'it\'s "quoted" $HOME `x`'


@pytest.mark.parametrize(
    ("format_", "model", "stream"),
    some([*((*pair, True) for pair in FORMATS), (*FORMATS[3], False), (*FORMATS[0], False)], 5),
)
def test_the_conversation_as_code_runs(
    page: Driver,
    console: Platform,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    format_: str,
    model: str,
    stream: bool,
) -> None:
    enter(page, console.url)
    choose(page, model, format_)
    if not stream:
        page.click("#stream")
    page.fill("system", "Be brief.")
    page.fill("maximum", "99")
    page.fill("draft", MESSAGE)
    for number, language in enumerate(("curl", "python")):
        page.click("#code")
        text = program(page, number, language)
        assert ALL not in text
        output = run(language, text, monkeypatch, capsys)
        assert "quoted" in output
        assert language == "curl" or output.strip() == MESSAGE
        page.click("#close")


ADDED = {"any-member": {"a": [1]}, "metadata": {"b": "c"}, "generationConfig": {"x": {"y": 2}}}
"""Members of requests, of which no SDK knows all."""

HAS_NODE_SDKS = THOROUGH and (FOLDER / "node_modules" / "openai").is_dir()


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_programs_send_what_the_page_sends(
    page: Driver,
    scripted: tuple[Running, Recorder],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    file: Path,
) -> None:
    front, upstream = scripted
    example = case(file)
    upstream.reset()
    upstream.speak = steps(HEAD + streamed(example["events"]), "close")
    enter(page, front.url)
    choose(page, example["model"], example["format"])
    page.fill("extra", json.dumps(ADDED))
    page.fill("system", "Be brief.")
    page.fill("maximum", "99")
    assert chat(page, MESSAGE) == "It is sunny."
    page.run("document.querySelector('.turn.model [aria-label*=\"as code\"]').click()")
    languages = ["curl", "python", *(["typescript"] if HAS_NODE_SDKS else [])]
    for number, language in enumerate(languages):
        text = program(page, number, language)
        assert "sunny" in run(language, text, monkeypatch, capsys)
    sent, *bodies = [json.loads(request.body) for request in upstream.requests]
    assert sent["any-member"] == ADDED["any-member"]
    assert bodies == [sent] * len(languages)


def program(page: Driver, number: int, language: str) -> str:
    """The program of the dialog in a language, by its place there."""
    page.until("document.getElementById('dialog').open")
    page.run(f"document.getElementById('languages').children[{number}].click()")
    label = "document.querySelector('#program .code-head span').innerText.toLowerCase()"
    page.until(f"{label} === '{language}'")
    return str(page.run("document.querySelector('#program code').textContent"))


def test_the_home_pages_snippets_run(
    page: Driver,
    console: Platform,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page.open(console.url + "/")
    calls = page.run("[...document.querySelectorAll('.panel')].map((node) => node.textContent)")
    assert len(calls) == 12
    for curl, python, _ in zip(calls[::3], calls[1::3], calls[2::3], strict=True):
        assert "Hello!" in run("curl", curl, monkeypatch, capsys)
        assert run("python", python, monkeypatch, capsys).strip() == "Hello!"


def run(
    language: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """The output of a program, run with the variable TOKEN."""
    if language == "curl":
        command = ["bash", "-c", text.replace("curl ", "curl -sS --noproxy '*' ", 1)]
        environ = {**environment(), "TOKEN": ALL}
        completed = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        return completed.stdout
    monkeypatch.setenv("TOKEN", ALL)
    monkeypatch.setenv("NO_PROXY", "*")
    if language == "typescript":
        command = ["node", "--input-type=module", "--eval", text]
        return subprocess.run(
            command, cwd=FOLDER, capture_output=True, text=True, check=True
        ).stdout
    capsys.readouterr()
    exec(compile(text, "pasted", "exec"), {})
    return capsys.readouterr().out
