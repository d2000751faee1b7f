"""`modelway explain`: show how a request would be handled, without sending it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from engine.callers.jwt.compact_form import unverified
from engine.callers.jwt.refusal import TokenRefused
from engine.cli.config_file import config_option, plan_of, result_or_exit, second_opinion_option
from engine.cli.output import format_option, is_terminal
from engine.config.config import Config
from engine.config.config_files import ConfigFiles
from engine.exchange.internal_request import Request
from engine.offline.rehearsal import observation
from engine.offline.rehearsal.jwt_callers import caller_of_claims
from engine.offline.rehearsal.observation import FAILURES, Rehearsal, UpstreamAnswers
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.offline.rehearsal.report_text import text
from engine.plan.plan import Plan
from engine.source.suggestion import did_you_mean
from engine.values.caller import Caller
from engine.values.units import unix_time

_NO_TOKENS = "it has none: `modelway token new NAME` prints an entry for `tokens`"


@click.command()
@config_option
@click.argument("method", required=False)
@click.argument("path", required=False)
@click.option("--tool", default="", help="A tool of an MCP server, in place of METHOD and PATH.")
@click.option(
    "--arguments", default="{}", help="The arguments of the tool, as JSON; @FILE reads a file."
)
@click.option("-H", "--header", "headers", multiple=True, help="A header: 'name: value'.")
@click.option("-d", "--data", default="", help="The body; @FILE reads a file, @- standard input.")
@click.option(
    "--token",
    default="",
    help="The name of a token in the config or the database, no secret is needed; or @FILE with a "
    "JSON Web Token.",
)
@click.option(
    "--from", "address", default="127.0.0.1", show_default=True, help="Client IP address."
)
@click.option(
    "--answers",
    multiple=True,
    help=f"Responses of upstreams: a status, {', '.join(FAILURES)}; NAME=... for one upstream.",
)
@click.option("--time", "arrival", default="", help="When it arrives: 2027-01-31T08:30+01:00.")
@format_option()
@second_opinion_option
def command(
    config: ConfigFiles,
    method: str | None,
    path: str | None,
    tool: str,
    arguments: str,
    headers: Sequence[str],
    data: str,
    token: str,
    address: str,
    answers: Sequence[str],
    arrival: str,
    output_format: str,
    second_opinion: bool,
) -> None:
    """Show how the gateway would handle a request, without opening a port or sending anything.

    The request takes the routes and stages of `modelway serve`. Nothing is sent to upstreams (they
    respond 200, or as --answers says), limits are unused, nothing is counted or written. A --token
    that is not in the config is looked up in the database of tokens. PATH may have a query. A JSON
    body gets its Content-Type automatically. Where openapi-core validates the request differently,
    a warning shows both results.

    With --tool and --arguments it is the request of a call of a tool.

    \b
      modelway explain POST /v1/chat/completions --token alice -d @body.json
      modelway explain POST /v1/chat/completions --token alice -d @body.json --answers openai=503
      modelway explain --tool create_order --arguments '{"body": {"item": "tea"}}' --token alice

    \b
    Exit status: 0 served, 1 refused (or the config has errors), 2 wrong usage.
    """
    result = result_or_exit(plan_of(config), "nothing is explained")
    assert result.plan is not None
    settings = result.plan.config
    if bool(tool) == bool(method and path) or (tool and (method or headers or data)):
        raise click.UsageError("write METHOD and PATH, or --tool and --arguments")
    request = (
        _tool_request(result.plan, tool, arguments, address)
        if tool
        else observation.request(method or "", path or "", _headers(headers), _body(data), address)
    )
    caller = _caller(result.plan, token) if token else None
    try:
        moment = unix_time(arrival, end_of_day=False) if arrival else None
        rehearsal = rehearse(result.plan, request, caller, _answers(answers, settings), moment)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    warnings = _second_opinion(result.plan, rehearsal) if second_opinion else []
    _print(report(result, rehearsal, warnings), output_format)
    sys.exit(0 if rehearsal.status < 400 else 1)


def _second_opinion(plan: Plan, rehearsal: Rehearsal) -> list[str]:
    """Warnings where openapi-core, which few commands need, validates the request differently."""
    from engine.offline.second_opinion.compare import compare_request

    return compare_request(plan, rehearsal)


def _tool_request(plan: Plan, name: str, arguments: str, address: str) -> Request:
    """The request of a call of a tool; exits if the tool refuses the arguments."""
    from engine.offline.rehearsal.tool_calls import find_tool, request_of

    try:
        values = json.loads(_body(arguments))
    except ValueError as error:
        raise click.UsageError(f"--arguments is not JSON: {error}") from error
    try:
        tool = find_tool(plan, name)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    try:
        return request_of(plan, tool, values, address)
    except ValueError as error:
        click.echo(f"refused by the tool '{tool.name}' ({tool.operation}): {error}")
        sys.exit(1)


def _print(document: dict[str, object], output_format: str) -> None:
    if output_format == "json":
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        click.echo(text(document, brief=is_terminal(sys.stdout)))


def _body(data: str) -> bytes:
    if data == "@-":
        return sys.stdin.buffer.read()
    if not data.startswith("@"):
        return data.encode()
    try:
        return Path(data[1:]).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{data[1:]} cannot be read: {error.strerror}") from error


def _headers(headers: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [header.partition(":") for header in headers]
    if any(not name or not colon for name, colon, _ in pairs):
        raise click.UsageError("write a header as 'name: value'")
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _caller(plan: Plan, name: str) -> Caller:
    if name.startswith("@"):
        return _bearer(plan, name)
    config = plan.config
    callers = {caller.name: caller for caller in config.tokens.values()}
    if name in callers:
        return callers[name]
    if any(name.startswith(issuer.rights.name) for issuer in config.jwt):
        message = f"'{name}' is a caller with a token of an issuer: write --token @FILE with one"
        raise click.UsageError(message)
    if config.stores.records is None:
        hint = did_you_mean(name, callers) or _NO_TOKENS
        raise click.UsageError(f"there is no token '{name}' in the config; {hint}")
    from engine.callers import token_by_name  # only a deployment with a database has its drivers

    try:
        return config.teams.member(
            token_by_name.caller(config.stores.records, name, config.currency)
        )
    except token_by_name.TokenNotFound as error:
        raise click.UsageError(str(error)) from error


def _bearer(plan: Plan, file: str) -> Caller:
    """The caller of the JSON Web Token in `@FILE`; exits if it is refused."""
    try:
        _, claims = unverified(_body(file).decode("utf-8", "replace").strip())
        return caller_of_claims(plan, claims)
    except TokenRefused as refusal:
        click.echo(f"refused by authenticate: {refusal}")
        sys.exit(1)


def _answers(options: Sequence[str], config: Config) -> UpstreamAnswers:
    default: int | str = 200
    by_upstream: dict[str, int | str] = {}
    for option in options:
        name, equals, answer = option.rpartition("=")
        if equals and name not in config.upstreams:
            hint = did_you_mean(name, config.upstreams)
            raise click.UsageError(f"unknown upstream '{name}'; {hint}")
        if equals:
            by_upstream[name] = _answer(answer)
        else:
            default = _answer(answer)
    return UpstreamAnswers(default, by_upstream)


def _answer(text: str) -> int | str:
    if text in FAILURES:
        return text
    if not (text.isascii() and text.isdigit() and 200 <= int(text) <= 599):
        raise click.UsageError(
            f"'{text}' is not an answer: write a status from 200 to 599, {' or '.join(FAILURES)}"
        )
    return int(text)
