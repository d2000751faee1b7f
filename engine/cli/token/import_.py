"""`modelway token import`: import tokens from JSON lines."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import IO, Any

import click
import orjson

from engine.cli.database import DatabaseLocation, database_at, database_options, location_of
from engine.cli.token import fields
from engine.config.config_files import ConfigFiles
from engine.config.guessable_secrets import guess
from engine.source.suggestion import did_you_mean
from engine.stores.database import tokens
from engine.stores.database.database import Database
from engine.stores.database.tokens import Token
from engine.values.units import format_count

_KEYS = Token.__struct_fields__
_MAX_PROBLEMS = 100


@click.command()
@click.argument("file", type=click.File("rb"))
@database_options
def command(config: ConfigFiles, database_url: str | None, file: IO[bytes]) -> None:
    """Import tokens from FILE ('-' for stdin): one JSON object a line, as `export` prints them.

    All or nothing: if any line has a problem, all problems are printed and nothing is imported.

    \b
    A line needs a name and a digest; other fields are as in `modelway token create`:
    {"name": "ci", "sha256": "9f86...", "models": ["gpt-4o*"], "expires": "2027-01-31"}
    """
    location = location_of(config, database_url)
    reader = _ImportReader(location, str(getattr(file, "name", "<stdin>")))
    reader.read(file)
    with database_at(location, create=True) as database:
        reader.check_unused(database)
        if not reader.problems:
            tokens.add(database, reader.tokens.values())
    if reader.problems:
        for number, problem in sorted(reader.problems)[:_MAX_PROBLEMS]:
            click.echo(f"{reader.file}:{number}: {problem}", err=True)
        more = f", {_MAX_PROBLEMS} of them shown" if len(reader.problems) > _MAX_PROBLEMS else ""
        count = format_count(len(reader.problems), "problem")
        raise click.ClickException(f"nothing was imported: {count}{more}")
    click.echo(f"{format_count(len(reader.tokens), 'token')} imported.", err=True)


class _ImportReader:
    """Parses the lines of a file: `tokens` by line number, and the `problems` of lines."""

    def __init__(self, location: DatabaseLocation, file: str) -> None:
        self.file = file
        configured, self._location = location.configured, location
        self._names = dict.fromkeys((c.name for c in configured.values()), "gateway.yaml")
        self._digests = dict.fromkeys(configured, "gateway.yaml")
        self._checks = _checks(location.currency)
        self.tokens: dict[int, Token] = {}
        self.problems: list[tuple[int, str]] = []

    def read(self, lines: Iterable[bytes]) -> None:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                self._note(number, f"not JSON: {error.msg} at column {error.colno}")
                continue
            if not isinstance(row, dict):
                self._note(number, "not a JSON object")
            elif (token := self._token(number, row)) is not None:
                self._add(number, token)

    def check_unused(self, database: Database) -> None:
        """Note tokens whose name or digest the database already has."""
        names, digests = tokens.find_conflicts(database, list(self.tokens.values()))
        for number, token in self.tokens.items():
            if token.name in names:
                self._note(number, f"name: '{token.name}' is already in the database")
            elif {token.sha256, token.previous_sha256} & digests:
                self._note(number, "sha256: another token in the database has this secret")

    def _token(self, number: int, row: dict[str, Any]) -> Token | None:
        before = len(self.problems)
        values: dict[str, Any] = {"created": time.time()}
        for key, value in row.items():
            if key not in self._checks:
                hint = did_you_mean(key, _KEYS)
                hint = "import the sha256 of a secret instead" if key == "secret" else hint
                self._note(number, f"{key[:100]!r} is not a field of a token: {hint}")
            elif value is not None:
                try:
                    values[key] = self._checks[key](value)
                except ValueError as error:
                    self._note(number, f"{key}: {error}")
        for key in ("name", "sha256"):
            if row.get(key) is None:
                self._note(number, f"{key}: missing")
        for key in ("sha256", "previous_sha256"):
            if key in values and (reason := guess(values[key], str(values.get("name", "")))):
                self._note(number, f"{key}: its secret can be guessed: {reason}")
        if ("previous_sha256" in values) != ("previous_until" in values):
            self._note(number, "previous_sha256 and previous_until must be used together")
        return None if len(self.problems) > before else Token(**values)

    def _add(self, number: int, token: Token) -> None:
        place = f"line {number}"
        first = self._names.setdefault(token.name, place)
        if first != place:
            self._note(number, f"name: '{token.name}' is already in {first}")
        elif problem := self._location.name_problem(token.name):
            self._note(number, f"name: {problem}")
        for secret in filter(None, (token.sha256, token.previous_sha256)):
            if secret in self._digests:
                self._note(number, f"sha256: the same secret is in {self._digests[secret]}")
            self._digests.setdefault(secret, place)
        self.tokens[number] = token

    def _note(self, number: int, problem: str) -> None:
        self.problems.append((number, problem))


def _checks(currency: str) -> dict[str, Callable[[Any], Any]]:
    times = dict.fromkeys(("created", "expires", "revoked", "previous_until"), fields.time)
    return {
        **times,
        "name": _text(fields.name),
        "sha256": _text(_digest),
        "previous_sha256": _text(_digest),
        "models": _texts(fields.models),
        "operations": _texts(fields.operations),
        "ips": _texts(fields.ips),
        "rate": _text(fields.rate),
        "token_budget": _text(fields.token_budget),
        "budget": _text(partial(fields.budget, currency=currency)),
        "concurrency": fields.concurrency,
        "warn_at": _texts(fields.warn_at),
        "note": _text(fields.note),
        "team": _text(fields.team),
        "priority": _text(fields.priority),
    }


def _text(check: Callable[[str], str]) -> Callable[[Any], str]:
    def check_text(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("is not a text")
        return check(value)

    return check_text


def _texts(check: Callable[[list[str]], tuple[str, ...]]) -> Callable[[Any], tuple[str, ...]]:
    def check_texts(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ValueError("is not a list of texts")
        return check(value)

    return check_texts


def _digest(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):  # the text may be a secret: it is not shown
        raise ValueError("is not a SHA-256: 64 hexadecimal digits in lower case")
    return text
