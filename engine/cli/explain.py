"""`modelway explain`: what would become of one request, said offline."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from engine.cli.config_file import config_option, result_or_exit, second_opinion_option
from engine.config.model import Config
from engine.offline.rehearsal import observation
from engine.offline.rehearsal.observation import FAILURES, Answers
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.offline.rehearsal.report_text import text
from engine.offline.second_opinion.compare import compare_request
from engine.plan.make import make_plan
from engine.source.suggestion import did_you_mean
from engine.values.caller import Caller


@click.command()
@config_option
@click.argument("method")
@click.argument("path")
@click.option("-H", "--header", "headers", multiple=True, help="A header: 'name: value'.")
@click.option("-d", "--data", default="", help="The body, @FILE to read it, @- for standard input.")
@click.option(
    "--token",
    default="",
    help="A token by its name, of the config or the database: no secret is needed.",
)
@click.option("--from", "address", default="127.0.0.1", show_default=True, help="Whence it comes.")
@click.option(
    "--answers",
    multiple=True,
    help=f"What upstreams answer: a status, {', '.join(FAILURES)}; NAME=... for one upstream.",
)
@click.option(
    "--format", "shape", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@second_opinion_option
def command(
    config: Path,
    method: str,
    path: str,
    headers: Sequence[str],
    data: str,
    token: str,
    address: str,
    answers: Sequence[str],
    shape: str,
    second_opinion: bool,
) -> None:
    """Say what would become of a request; open no port, send nothing.

    The request goes through the routes and steps that `modelway serve` runs. Upstreams are not
    asked (they answer 200, or what --answers says), limits stand at zero, nothing is counted or
    written. A --token that the config has not is looked up in the records' database, which is all
    that is ever asked. PATH may have a query. A body that is JSON gets its Content-Type by itself.
    Where openapi-core reads the request differently, a warning shows both readings.

    \b
      modelway explain POST /v1/chat/completions --token alice -d @body.json
      modelway explain POST /v1/chat/completions --token alice -d @body.json --answers openai=503

    \b
    Exit status: 0 served, 1 refused (or the config has errors), 2 wrong usage.
    """
    planned = result_or_exit(make_plan(config, os.environ), "nothing is explained")
    assert planned.plan is not None
    settings = planned.plan.config
    body = _body(data)
    request = observation.request(method, path, _headers(headers), body, address)
    caller = _caller(settings, token) if token else None
    try:
        seen = rehearse(planned.plan, request, caller, _answers(answers, settings))
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    warnings = compare_request(planned.plan, seen) if second_opinion else []
    _print(report(planned, seen, warnings), shape)
    sys.exit(0 if seen.status < 400 else 1)


def _print(said: dict[str, object], shape: str) -> None:
    if shape == "json":
        click.echo(json.dumps(said, indent=2, ensure_ascii=False))
    else:
        click.echo(text(said))


def _body(data: str) -> bytes:
    if data == "@-":
        return sys.stdin.buffer.read()
    if not data.startswith("@"):
        return data.encode()
    try:
        return Path(data[1:]).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{data[1:]} cannot be read: {error.strerror}") from error


def _headers(said: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [header.partition(":") for header in said]
    if any(not name or not colon for name, colon, _ in pairs):
        raise click.UsageError("a header is written 'name: value'")
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _caller(config: Config, name: str) -> Caller:
    callers = {caller.name: caller for caller in config.tokens.values()}
    if name in callers:
        return callers[name]
    if config.stores.records is None:
        hint = did_you_mean(name, callers) or "the config has no tokens; put one under tokens:"
        raise click.UsageError(f"there is no token '{name}' in the config; {hint}")
    from engine.callers import lookup  # a deployment without a database does without its drivers

    try:
        return lookup.caller(config.stores.records, name, config.currency)
    except lookup.CannotSay as error:
        raise click.UsageError(str(error)) from error


def _answers(said: Sequence[str], config: Config) -> Answers:
    every: int | str = 200
    each: dict[str, int | str] = {}
    for one in said:
        name, equals, answer = one.rpartition("=")
        if equals and name not in config.upstreams:
            hint = did_you_mean(name, config.upstreams)
            raise click.UsageError(f"unknown upstream '{name}'; {hint}")
        if equals:
            each[name] = _answer(answer)
        else:
            every = _answer(answer)
    return Answers(every, each)


def _answer(said: str) -> int | str:
    if said in FAILURES:
        return said
    if not (said.isascii() and said.isdigit() and 200 <= int(said) <= 599):
        raise click.UsageError(f"'{said}' is no status from 200 to 599, {' or '.join(FAILURES)}")
    return int(said)
