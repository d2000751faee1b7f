"""No exception ends a command in a traceback: it is a finding, in the format that was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree

import click
import pytest
from click.testing import Result

from engine import cli
from engine.cli import check as check_command
from engine.cli import check_formats, config_file, explain, routes, unexpected_errors
from engine.cli import diff as diff_command
from engine.cli import test as test_command
from engine.plan.assembly import documents
from engine.spec import operation_reader
from tests.support.commands import modelway
from tests.support.each import each

CODE = unexpected_errors.CODE
SECRET = "sk-of-nobody"
ERRORS: dict[str, Callable[[], BaseException]] = {
    "recursion": lambda: RecursionError("maximum recursion depth exceeded"),
    "memory": MemoryError,
    "unicode": lambda: UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    "key": lambda: KeyError("components"),
    "file": lambda: PermissionError(13, "Permission denied", "shop.yaml"),
    "type": lambda: TypeError(SECRET),
    "system": lambda: OSError("no number"),
}
COMMANDS = {
    "check": ["check"],
    "check of a file": ["check", "gateway.yaml"],
    "routes": ["routes"],
    "explain": ["explain", "GET", "/v1/items"],
    "diff": ["diff", "gateway.yaml", "gateway.yaml"],
    "test": ["test"],
    "mock": ["mock", "-c", "gateway.yaml"],
    "serve": ["serve"],
    "reload": ["reload"],
}


@pytest.fixture
def failing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes every command fail when it reads a document."""
    monkeypatch.delenv("MODELWAY_DEBUG", raising=False)

    def fail(error: BaseException) -> None:
        def read(*arguments: object, **more: object) -> NoReturn:
            raise error

        monkeypatch.setattr(documents, "read", read)

    return fail


def assert_is_a_finding(result: Result) -> None:
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 1
    assert f"[{CODE}]" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_every_exception_of_every_command_is_a_finding(
    words: list[str], failing: Callable[[BaseException], None]
) -> None:
    for make in ERRORS.values():
        failing(make())
        result = modelway(*words)
        assert_is_a_finding(result)
        assert "shop.yaml" in result.output
        assert SECRET not in result.output


FORMATS = {
    "check": (["check"], check_formats.names()),
    "diff": (["diff", "gateway.yaml", "gateway.yaml"], ["text", "json", "github", "markdown"]),
    "explain": (["explain", "GET", "/v1/items"], ["text", "json"]),
    "test": (["test"], ["text", "json", "junit", "github"]),
    "routes": (["routes"], ["text", "json"]),
}


def test_these_are_all_formats() -> None:
    modules: dict[str, Any] = {
        "check": check_command,
        "diff": diff_command,
        "explain": explain,
        "test": test_command,
        "routes": routes,
    }
    for name, (_, names) in FORMATS.items():
        (option,) = [p for p in modules[name].command.params if "--format" in p.opts]
        assert isinstance(option.type, click.Choice)
        assert set(option.type.choices) == set(names)


@pytest.mark.parametrize(("words", "names"), FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("form", [["--format", "{}"], ["--format={}"]], ids=["apart", "joined"])
def test_the_finding_has_the_format_that_was_asked_for(
    words: list[str],
    names: list[str],
    form: list[str],
    failing: Callable[[BaseException], None],
) -> None:
    for name in names:
        failing(RecursionError())
        result = modelway(*words, *(part.format(name) for part in form))
        assert result.exit_code == 1
        assert "Traceback" not in result.output
        if name in ("text", "markdown"):
            assert f"[{CODE}]" in result.output
        else:
            assert READERS[name](result.stdout) == CODE


READERS: dict[str, Callable[[str], str]] = {
    "json": lambda text: str(json.loads(text)["problems"][0]["code"]),
    "github": lambda text: CODE if f"title={CODE}" in text or CODE in text else "",
    "gitlab": lambda text: str(json.loads(text)[0]["check_name"]),
    "sarif": lambda text: str(json.loads(text)["runs"][0]["results"][0]["ruleId"]),
    "junit": lambda text: (
        CODE if CODE in ElementTree.fromstring(text)[0][0][0].attrib["message"] else ""
    ),
}


def test_the_place_is_that_of_the_operation(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_operation(declaration: Any, *arguments: object) -> NoReturn:
        raise RecursionError

    monkeypatch.setattr(operation_reader, "compile_operation", compile_operation)
    result = modelway("check", "--format", "json")
    (problem,) = json.loads(result.stdout)["problems"]
    assert (problem["file"], problem["line"], problem["code"]) == ("shop.yaml", 5, CODE)
    assert "5 |" in modelway("check").stdout


def test_other_configs_are_checked_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = config_file.plan_of

    def fail_for_one(config: Any) -> Any:
        if str(config) == "unwise.yaml":
            raise RecursionError
        return plan(config)

    monkeypatch.setattr(check_command, "plan_of", fail_for_one)
    result = modelway("check", "--format", "json", "unwise.yaml", "bad.yaml", "gateway.yaml")
    files = {problem["file"]: problem["code"] for problem in json.loads(result.stdout)["problems"]}
    assert files["unwise.yaml"] == CODE
    assert "bad.yaml" in files


def test_the_traceback_is_printed_on_demand(
    failing: Callable[[BaseException], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELWAY_DEBUG", "1")
    for words in (["routes"], ["check", "--format", "json"]):
        failing(TypeError(SECRET))
        result = modelway(*words)
        assert "Traceback" in result.stderr
        assert f"TypeError: {SECRET}" in result.stderr
        assert "Traceback" not in result.stdout


@each("words", [["-c", "a.yaml"], ["-ca.yaml"], ["--config=a.yaml"], ["--config", "a.yaml"]])
def test_the_config_of_the_arguments_is_named(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    unexpected_errors.report(ValueError(), ["routes", *words])
    assert capsys.readouterr().err.startswith("a.yaml: error: ")


def test_the_config_of_the_environment_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MODELWAY_CONFIG", "b.yaml:c.yaml")
    unexpected_errors.report(ValueError(), ["routes"])
    assert capsys.readouterr().err.startswith("b.yaml: error: ")


def test_an_unexpected_error_of_a_nested_command_is_a_finding(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = cli.main.get_command(click.Context(cli.main), "token")
    assert isinstance(token, click.Group)

    def fail(*arguments: object, **more: object) -> NoReturn:
        raise RecursionError

    new = token.get_command(click.Context(token), "new")
    monkeypatch.setattr(new, "callback", fail)
    assert_is_a_finding(modelway("token", "new", "alice"))
