"""`modelway test`: run the test cases of a config, without sending anything."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from engine.cli.config_file import (
    config_option,
    errors_exit,
    plan_of,
    result_or_exit,
    second_opinion_option,
)
from engine.cli.output import format_option
from engine.config.config_files import ConfigFiles
from engine.offline.cases import formats, read
from engine.offline.cases.read import Case
from engine.offline.cases.run import Result, run
from engine.plan.plan import PlanResult
from engine.source.problem import Findings

_FORMATS = {
    "text": formats.summary,
    "json": formats.as_json,
    "junit": formats.as_junit,
    "github": formats.as_github,
}


@click.command()
@config_option
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@format_option(tuple(_FORMATS), "text for people, json for programs, junit and github for CI.")
@second_opinion_option
def command(
    config: ConfigFiles, files: Sequence[Path], output_format: str, second_opinion: bool
) -> None:
    """Run the test cases of the config, without opening a port or sending anything.

    Cases are under `tests:` in the config and in *.test.yaml next to it, or in FILES. Each is a
    request and its expected result: operation, status, upstream, the model and headers sent on.
    Requests take the routes and stages of `modelway serve`; upstreams respond 200, or as the case
    says. If openapi-core validates a request differently, a warning shows both results; the case
    does not fail because of it.

    \b
      tests:
        - name: chat goes to openai
          request: {method: POST, path: /v1/chat/completions, token: alice,
                    body: {model: gpt-4o, messages: [{role: user, content: Hello}]}}
          expect: {operation: openai.createChatCompletion, status: 200, upstream: openai}

    \b
    Exit status: 0 all passed, 1 some failed (or files have errors), 2 wrong usage or no cases.
    """
    plan_result = result_or_exit(plan_of(config), "nothing is tested")
    assert plan_result.plan is not None
    findings = Findings()
    cases = _cases(config, files, plan_result, findings)
    if findings.errors:
        errors_exit(findings.errors, findings.texts, "nothing is tested")
    if not cases:
        raise click.UsageError(
            f"no cases: add some under tests:, or in {read.PATTERN} next to the config"
        )
    results: list[Result] = []
    for result in run(cases, plan_result.plan, second_opinion=second_opinion):
        results.append(result)
        if output_format == "text":
            click.echo(formats.line(result))
    click.echo(_render(results, output_format))
    sys.exit(0 if all(result.passed for result in results) else 1)


def _cases(
    config: ConfigFiles, files: Sequence[Path], plan_result: PlanResult, findings: Findings
) -> list[Case]:
    if files:
        return [c for f in files for c in read.of_file(f, str(f), plan_result, findings)]
    cases = read.of_config(plan_result, config.main, findings)
    for file in read.case_files(config.main):
        cases += read.of_file(file, str(config.main.parent / file.name), plan_result, findings)
    return cases


def _render(results: Sequence[Result], output_format: str) -> str:
    return _FORMATS[output_format](results)
