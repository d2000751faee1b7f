"""`modelway connect`: what an agent needs is printed, written and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import agents
from tests.support.commands import modelway

TOKEN = "mw-" + "a" * 64
OFFLINE = ("--offline", "--model", "m")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "MODELWAY_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("MODELWAY_TOKEN", TOKEN)
    return tmp_path


def files(home: Path) -> dict[str, bytes]:
    paths = (path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in paths}


def test_all_are_listed() -> None:
    result = modelway("connect")
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(agents.names())


def test_the_settings_are_printed_and_nothing_is_written(home: Path) -> None:
    result = modelway("connect", "gemini", "--url", "http://gate:1/v1/", *OFFLINE)
    assert result.exit_code == 0
    assert "# ~/.gemini/settings.json\n{" in result.stdout
    assert "export GOOGLE_GEMINI_BASE_URL=http://gate:1\n" in result.stdout
    assert "export GEMINI_API_KEY=$MODELWAY_TOKEN\n" in result.stdout
    assert files(home) == {}


def test_for_another_shell() -> None:
    result = modelway("connect", "claude", "--shell", "fish", *OFFLINE)
    assert "set -gx ANTHROPIC_AUTH_TOKEN $MODELWAY_TOKEN\n" in result.stdout


BEFORE = {
    ".bashrc": b"alias x=y",
    ".codex/config.toml": b'# mine\nmodel = "old"\n[tools]\nweb = true\n',
    ".gemini/settings.json": b'{"theme": "dark"}',
    ".config/opencode/opencode.json": b'{"theme": "dark", "provider": {"own": {}}}\n',
}


@pytest.mark.parametrize("before", [{}, BEFORE], ids=["new", "with-files"])
@pytest.mark.parametrize("name", [name for name in agents.names() if name != "cline"])
def test_what_was_written_is_taken_back(home: Path, name: str, before: dict[str, bytes]) -> None:
    for path, data in before.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(data)
    result = modelway("connect", name, "--write", *OFFLINE, input="y\n")
    assert result.exit_code == 0, result.output
    after = files(home)
    assert after != before
    assert all(TOKEN.encode() not in data for data in after.values())
    assert "+++ " in result.output
    again = modelway("connect", name, "--write", *OFFLINE)
    assert again.exit_code == 1
    assert "connected already" in again.output
    assert modelway("connect", name, "--undo").exit_code == 0
    assert files(home) == before


def test_without_a_yes_nothing_is_written(home: Path) -> None:
    result = modelway("connect", "claude", "--write", *OFFLINE, input="n\n")
    assert result.exit_code == 1
    assert files(home) == {}


def test_a_file_that_cannot_be_merged_is_left_alone(home: Path) -> None:
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"theme": "dark"} // mine')
    result = modelway("connect", "gemini", "--write", "--yes", *OFFLINE)
    assert result.exit_code == 1
    assert f"{settings}: it is not JSON" in result.output
    assert list(files(home)) == [".gemini/settings.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clude"], "did you mean 'claude'?"),
        (["claude", "--offline"], "--offline needs --model"),
        (["claude", "--undo"], "nothing was written for Claude Code"),
        (["cline", "--write", "--yes", *OFFLINE], "Cline has no file of settings"),
        (["claude", "--offline", "--model", 'a"b'], "cannot be written into settings"),
        (["claude", *OFFLINE, "--url", "https://user:hush@gate"], "may not have a user"),
        (["claude", *OFFLINE, "--url", "gate:8080"], "begins with http://"),
        (["claude", *OFFLINE, "--url", "http+unix:///run/gate"], "begins with http://"),
    ],
)
def test_what_is_wrong_is_named(arguments: list[str], message: str) -> None:
    result = modelway("connect", *arguments)
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert "hush" not in result.output


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    result = modelway("connect", "claude", "--undo")
    assert result.exit_code == 1
    assert "HOME is not set" in result.output


def test_without_a_token_the_gateway_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MODELWAY_TOKEN")
    result = modelway("connect", "claude")
    assert result.exit_code == 1
    assert "MODELWAY_TOKEN is not set" in result.output
