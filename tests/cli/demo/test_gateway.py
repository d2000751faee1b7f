"""The gateway of the demo does not start without its mock upstream."""

import sys

from engine.source import files
from tests.support.commands import modelway
from tests.support.masters import start_in_process


def test_a_mock_that_does_not_start_is_an_error(monkeypatch):
    masters = start_in_process(monkeypatch)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    result = modelway("demo", "--port", "9124")
    assert (result.exit_code, masters) == (1, [])
    assert "the mock upstream did not start" in result.output


def test_the_mock_has_the_documents_of_the_demo_and_not_of_the_folder(monkeypatch, tmp_path):
    start_in_process(monkeypatch)
    (tmp_path / "gateway.yaml").write_text("version: 1\n")
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "$@" >&2\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(program))
    result = modelway("demo", "--port", "9124")
    assert f"mock --config {files.CONFIG} --port" in result.output
