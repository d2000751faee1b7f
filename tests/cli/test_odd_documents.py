"""Changed documents and configs through the commands themselves: findings, never an exception.

`MODELWAY_MUTATIONS=2000 pytest tests/cli/test_odd_documents.py` tries more of them.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from engine.cli import unexpected_errors
from tests.support import mutations, odd_documents
from tests.support.commands import modelway
from tests.support.thorough import changes

COUNT = changes(10)
CONFIG = """version: 1
specs: {{shop: {{document: {}, mount: /v1}}}}
upstreams: {{main: {{url: "http://127.0.0.1:9"}}}}
routes: [{{operations: shop.*, to: [{{upstream: main}}], {}}}]
tokens: []
"""
STRICT, LENIENT = "validate: strict", "validate: lenient, validate_responses: report"
COMMANDS = [
    ["check", "--format", "json"],
    ["check", "--format", "sarif", "--verbose", "--no-second-opinion", "-c", "lenient.yaml"],
    ["explain", "PUT", "/v1/items/1", "-d", "{}", "--format", "json"],
    ["diff", "before.yaml", "gateway.yaml", "--format", "json"],
    ["routes", "--format", "json"],
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "MODELWAY_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    before = tmp_path / "before"
    before.mkdir()
    odd_documents.write(before, odd_documents.DOCUMENT)
    for name, document, options in (
        ("before", "before/api.json", STRICT),
        ("gateway", "api.json", STRICT),
        ("lenient", "api.json", LENIENT),
    ):
        (tmp_path / f"{name}.yaml").write_text(CONFIG.format(document, options))
    return tmp_path


def assert_ends_in_words(words: list[str], change: str) -> None:
    result = modelway(*words)
    assert result.exception is None or isinstance(result.exception, SystemExit), change
    assert result.exit_code in (0, 1, 3), (change, words, result.output[-300:])
    assert unexpected_errors.CODE not in result.output, (change, words, result.output[-500:])
    assert "a bug in Modelway" not in result.output, (change, words, result.output[-500:])
    assert result.output.strip(), (change, words)


def test_the_document_itself_is_fine(project: Path) -> None:
    odd_documents.write(project, odd_documents.DOCUMENT)
    problems = json.loads(modelway("check", "--format", "json").stdout)["problems"]
    assert [problem for problem in problems if problem["level"] == "error"] == []


@pytest.mark.parametrize("seed", range(3))
def test_no_document_ends_a_command_in_an_exception(project: Path, seed: int) -> None:
    for document, parts, change in islice(odd_documents.odd_documents(seed), COUNT):
        odd_documents.write(project, document, parts)
        for words in COMMANDS:
            assert_ends_in_words(words, change)


def test_no_document_ends_a_trial_in_an_exception(project: Path) -> None:
    for document, parts, change in islice(odd_documents.odd_documents(9), COUNT // 4):
        odd_documents.write(project, document, parts)
        words = ["check", "--boot", "--no-second-opinion", "-c", "gateway.yaml", "-c", "boot.yaml"]
        (project / "boot.yaml").write_text('server: {listen: "127.0.0.1:0"}\n')
        assert_ends_in_words(words, change)


def test_no_config_ends_a_command_in_an_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mutations.prepare(tmp_path)
    for name, value in mutations.ENVIRON.items():
        monkeypatch.setenv(name, value)
    for mutation in islice(mutations.mutations(5), COUNT // 2):
        (tmp_path / "gateway.yaml").write_text(mutation.text, "utf-8", "surrogatepass")
        for words in (["check", "--format", "json", "--no-second-opinion"], ["config"]):
            assert_ends_in_words(words, mutation.words)
