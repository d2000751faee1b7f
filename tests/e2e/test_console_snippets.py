"""The snippets of the home page and the programs of the playground run as they are."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.browser import CHROMIUM
from tests.support.driver import Driver
from tests.support.pages import choose, enter
from tests.support.running import ALL, Platform, environment
from tests.support.thorough import some

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
        page.until("document.getElementById('dialog').open")
        page.run(f"document.getElementById('languages').children[{number}].click()")
        page.until(
            f"document.querySelector('.code-head span').innerText.toLowerCase() === '{language}'"
        )
        text = page.run("document.querySelector('#program code').textContent")
        assert ALL not in text
        output = run(language, text, monkeypatch, capsys)
        assert "quoted" in output
        assert language == "curl" or output.strip() == MESSAGE
        page.click("#close")


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
    capsys.readouterr()
    exec(compile(text, "pasted", "exec"), {})
    return capsys.readouterr().out
