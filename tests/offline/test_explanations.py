"""Every problem code has a manual, whose wrong example yields that very code and the right none."""

import json
import re
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from engine import cli
from engine.cli import unexpected_errors
from engine.offline.explanations import codes, explanation
from engine.offline.second_opinion import compare
from engine.plan.checks import providers as provider_checks
from tests.support import paths
from tests.support.blocks import blocks_of
from tests.support.each import each
from tests.support.paths import ROOT

ENGINE = ROOT / "engine"
GATEWAY = """\
version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {main: {url: https://api.example.com/v1}}
models: {small: {to: [{upstream: main}]}}
routes:
  - {operation: shop.chat, model: $request.body#/model}
  - {operations: [shop.listItems, shop.createItem, shop.getItem], to: [{upstream: main}]}
"""
BY_WILDCARD = """\
version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {main: {url: https://api.example.com/v1}}
routes: [{operations: shop.*, to: [{upstream: main}]}]
"""
SHOP = (paths.CASES / "configs/openapi/shop.yaml").read_text("utf-8")
OF_PLUGINS = ("MW113", "MW114")
"""The codes about distributions that are installed: tests/e2e/test_plugins.py installs some."""
WITHOUT_EXAMPLES = (unexpected_errors.CODE, *OF_PLUGINS)
WITH_EXAMPLES = [code for code in codes() if code not in WITHOUT_EXAMPLES]
"""All codes but those, and that of a mistake of Modelway, which no known input leads to."""
_EXPORT = re.compile(r'^export (\w+)="(.*)"$', re.MULTILINE)


class Example(NamedTuple):
    """Files by name, as bytes, the environment they are checked in, and the command that does."""

    files: dict[str, bytes]
    environ: dict[str, str]
    command: str = "check"


def sections(text: str) -> dict[str, str]:
    return dict(_sections(text))


def _sections(text):
    """Top-level keys with their text, comments and all."""
    parts = re.split(r"^(?=[a-z]\w*:)", text, flags=re.MULTILINE)
    return [(part.partition(":")[0], part) for part in parts if part.strip()]


def over(base: str, fragment: str) -> str:
    """The fragment, then the sections of the base that it does not say itself."""
    parts = sections(fragment)
    if "routes" in parts and "model:" not in parts["routes"]:
        parts["models"] = ""  # nothing could ask for one
    return fragment + "".join(text for key, text in _sections(base) if key not in parts)


def example(text: str) -> Example:
    files, environ, command = {}, {}, "check"
    for block in blocks_of("manual", text):
        body = block.text
        if block.language == "sh":
            environ |= dict(_EXPORT.findall(body))
            command = "test" if "modelway test" in body else command
            command = "boot" if "--boot" in body else command
            command = "verbose" if "--verbose" in body else command
        else:
            name, _, encoding = block.name.partition(", ")
            files[name] = body.encode(encoding or "utf-8")
    base = GATEWAY if "gateway.yaml" in files else BY_WILDCARD
    for name, below in (("gateway.yaml", base), ("shop.yaml", SHOP)):
        files[name] = over(below, files.get(name, b"").decode()).encode()
    return Example(files, environ, command)


def examples(code: str) -> tuple[Example, Example]:
    manual = explanation(code)
    assert manual is not None
    _, wrong, right = re.split(r"^## (?:Wrong|Right)$", manual.text, flags=re.MULTILINE)
    return example(wrong), example(right)


def problems_of(example: Example, folder: Path) -> list[dict]:
    for name, data in example.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    if example.command == "test":
        ran = CliRunner().invoke(cli.main, [example.command])
        problems = re.findall(r": (error|warning): .*\[(MW[0-9]{3})\]$", ran.output, re.MULTILINE)
        return [{"level": level, "code": code} for level, code in problems]
    options = {"boot": ["--boot"], "verbose": ["--verbose"]}.get(example.command, [])
    words = ["check", "--format", "json", "--second-opinion", *options]
    ran = CliRunner().invoke(cli.main, words, env=example.environ)
    assert ran.exit_code in (0, 1), ran.output
    return json.loads(ran.stdout)["problems"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "GUNICORN_CMD_ARGS"):
        monkeypatch.delenv(name, raising=False)
    # However new the files of providers are.
    monkeypatch.setattr(provider_checks, "today", lambda: date(2100, 1, 1))
    monkeypatch.setattr(compare, "SECONDS", 3.0)
    return tmp_path


def in_the_engine() -> set[str]:
    return {
        code
        for path in ENGINE.rglob("*.py")
        for code in re.findall(r"\bMW[0-9]{3}\b", path.read_text("utf-8"))
    }


def test_every_code_in_the_engine_has_a_manual_and_no_other():
    assert set(codes()) == in_the_engine()


@each("code", codes())
def test_a_manual_has_a_title_a_meaning_and_two_examples(code):
    manual = explanation(code)
    assert manual.text.startswith(f"# {code}: {manual.title}\n\n")
    assert 8 < len(manual.title) < 80
    meaning = manual.text.partition("## Wrong")[0].partition("\n\n")[2]
    assert len(meaning.split()) > 8
    assert all(len(line) <= 100 for line in manual.text.splitlines())


@pytest.mark.parametrize("code", WITH_EXAMPLES)
def test_the_wrong_example_yields_the_code(code, folder):
    wrong, _ = examples(code)
    assert code in {problem["code"] for problem in problems_of(wrong, folder)}


@pytest.mark.parametrize("code", WITH_EXAMPLES)
def test_the_mended_example_yields_nothing_but_notes(code, folder):
    _, right = examples(code)
    problems = [p for p in problems_of(right, folder) if p["level"] != "info" or p["code"] == code]
    assert problems == []


def test_a_code_that_there_is_not_has_no_manual():
    assert explanation("MW999") is None
    assert explanation("../MW101") is None
