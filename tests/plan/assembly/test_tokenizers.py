"""The tokenizers that models name: loaded, or a problem with its place."""

import hashlib
import os

import pytest

from engine.plan.assembly import tokenizers
from engine.plan.assembly.tokenizers import load_tokenizers
from engine.source.files import record_reads
from engine.source.problem import Findings
from tests.support.configs import read_config
from tests.support.small_tokenizer import tokenizer_file

UPSTREAMS = "upstreams: {u: {url: http://host}}\n"


def config(*files):
    models = "".join(
        f"  m{n}: {{to: [{{upstream: u}}], tokenizer: '{file}'}}\n" for n, file in enumerate(files)
    )
    return read_config(f"{UPSTREAMS}models:\n{models}  plain: {{to: [{{upstream: u}}]}}\n")


def problems(*files):
    findings = Findings()
    assert not load_tokenizers(config(*files), findings)
    return findings.problems


def test_models_of_one_file_share_its_tokenizer_which_a_reload_watches(tmp_path):
    file, findings = tmp_path / "tokenizer.json", Findings()
    file.write_bytes(tokenizer_file())
    with record_reads() as files:
        by_file = load_tokenizers(config(file, file), findings)
    assert not findings.problems
    assert [*by_file] == [str(file)]
    assert files == {file: hashlib.sha256(tokenizer_file()).hexdigest()}


def test_a_missing_file(tmp_path):
    [problem] = problems(tmp_path / "none.json")
    assert (problem.code, problem.line) == ("MW106", 6)
    assert problem.message == f"there is no file '{tmp_path / 'none.json'}'"


@pytest.mark.skipif(os.getuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(tmp_path):
    file = tmp_path / "tokenizer.json"
    file.touch(mode=0)
    [problem] = problems(file)
    assert "'tokenizer.json' cannot be read: Permission denied" in problem.message


def test_a_file_that_is_no_tokenizer_is_a_problem_of_each_model(tmp_path):
    file = tmp_path / "tokenizer.json"
    file.write_text("{}")
    first, second = problems(file, file)
    assert (first.line, second.line) == (6, 7)
    assert first.code == second.code == "MW104"
    assert "'tokenizer.json' cannot be used as a tokenizer" in first.message


def test_a_missing_library(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenizers, "is_installed", lambda: False)
    [problem] = problems(tmp_path / "tokenizer.json")
    assert (problem.code, problem.hint) == ("MW108", "pip install 'modelway[tokenizers]'")
