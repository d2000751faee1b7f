"""The command `modelway` in this process, and a small project for it."""

from __future__ import annotations

from typing import Any

from click.testing import CliRunner, Result

from engine import cli
from engine.cli.check_formats import Report
from engine.source.problem import Problem

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /items: {get: {operationId: list, responses: {"200": {description: ok}}}}
  /more: {get: {operationId: more, responses: {"200": {description: ok}}}}
"""
GOOD = """version: 1
specs: {shop: {document: shop.yaml, mount: /v1}}
upstreams: {main: {url: "http://127.0.0.1:9"}}
routes: [{operations: shop.*, to: [{upstream: main}]}]
"""
BAD = GOOD.replace("main}]", "main}, {upstream: mian}]")
"""With one error."""
UNWISE = GOOD.replace("127.0.0.1:9", "shop.internal")
"""With one warning."""


def modelway(*args: str, **more: Any) -> Result:
    """The result of a command."""
    return CliRunner().invoke(cli.main, args, **more)


def report(*problems: Problem, colour: bool = False) -> Report:
    """The report of a failed check of one file."""
    return Report({"f.yaml": list(problems)}, list(problems), {}, True, colour)


def assert_refused(result: Result, *words: str, status: int = 1) -> None:
    """The command ended with this status and these words on standard error, without output."""
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    assert isinstance(result.exception, SystemExit)
    for text in words:
        assert text in result.stderr
