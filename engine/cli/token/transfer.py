"""`modelway token export` and `import`: tokens as JSON lines."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sized
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import IO, Any

import click
import orjson

from engine.cli.token import values
from engine.cli.token.database import (
    Place,
    place_of,
    place_options,
    records,
)
from engine.source.suggestion import did_you_mean
from engine.stores.records import tokens
from engine.stores.records.database import Database
from engine.stores.records.tokens import Token


@click.command("export")
@place_options
def export_tokens(config: Path, database: str | None) -> None:
    """Print all tokens, one JSON object a line, for `modelway token import` elsewhere.

    Digests only: no secret is kept, so none can be exported. Times are Unix seconds; what is not
    said sets no bound.
    """
    with records(place_of(config, database)) as opened:
        for token in tokens.every(opened):
            said = {key: value for key, value in asdict(token).items() if value not in (None, "")}
            click.echo(orjson.dumps(said).decode())


_KEYS = [field.name for field in fields(Token)]
_SHOWN = 100


@click.command("import")
@click.argument("file", type=click.File("rb"))
@place_options
def import_tokens(config: Path, database: str | None, file: IO[bytes]) -> None:
    """Take in tokens from FILE ('-' for stdin): one JSON object a line, as `export` prints them.

    All or nothing: every line that cannot be taken in is named, and then none is.

    \b
    A line needs a name and a digest, everything else is as in `modelway token create`:
    {"name": "ci", "sha256": "9f86...", "models": ["gpt-4o*"], "expires": "2027-01-31"}
    """
    place = place_of(config, database)
    reader = _Reader(place, str(getattr(file, "name", "<stdin>")))
    reader.read(file)
    with records(place, make=True) as opened:
        reader.hold_against(opened)
        if not reader.bad:
            tokens.add(opened, reader.tokens.values())
    if reader.bad:
        for number, why in sorted(reader.bad)[:_SHOWN]:
            click.echo(f"{reader.file}:{number}: {why}", err=True)
        more = f", {_SHOWN} of them shown" if len(reader.bad) > _SHOWN else ""
        raise click.ClickException(f"nothing was taken in: {_many(reader.bad, 'problem')}{more}")
    click.echo(f"{_many(reader.tokens, 'token')} taken in.", err=True)


class _Reader:
    """Lines of a file as tokens by their line, or what is `bad` about them."""

    def __init__(self, place: Place, file: str) -> None:
        self.file = file
        self._names = dict.fromkeys((c.name for c in place.configured.values()), "gateway.yaml")
        self._digests = dict.fromkeys(place.configured, "gateway.yaml")
        self._checks = _checks(place.currency)
        self.tokens: dict[int, Token] = {}
        self.bad: list[tuple[int, str]] = []

    def read(self, lines: Iterable[bytes]) -> None:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                said = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                self._bad(number, f"not JSON: {error.msg} at column {error.colno}")
                continue
            if not isinstance(said, dict):
                self._bad(number, "not a JSON object")
            elif (token := self._token(number, said)) is not None:
                self._keep(number, token)

    def hold_against(self, database: Database) -> None:
        """Note which names and digests the database has already."""
        names, digests = tokens.taken(database, list(self.tokens.values()))
        for number, token in self.tokens.items():
            if token.name in names:
                self._bad(number, f"name: '{token.name}' is taken in the database")
            elif {token.sha256, token.previous_sha256} & digests:
                self._bad(number, "sha256: another token in the database has this secret")

    def _token(self, number: int, said: dict[str, Any]) -> Token | None:
        before = len(self.bad)
        found: dict[str, Any] = {"created": time.time()}
        for key, value in said.items():
            if key not in self._checks:
                hint = did_you_mean(key, _KEYS)
                secret = key == "secret"
                hint = "secrets are not taken in, give the sha256 of it" if secret else hint
                self._bad(number, f"{key[:100]!r} is not known here: {hint}")
            elif value is not None:
                try:
                    found[key] = self._checks[key](value)
                except ValueError as error:
                    self._bad(number, f"{key}: {error}")
        for key in ("name", "sha256"):
            if said.get(key) is None:
                self._bad(number, f"{key}: missing")
        if ("previous_sha256" in found) != ("previous_until" in found):
            self._bad(number, "previous_sha256 and previous_until belong together")
        return None if len(self.bad) > before else Token(**found)

    def _keep(self, number: int, token: Token) -> None:
        place = f"line {number}"
        known = self._names.setdefault(token.name, place)
        if known != place:
            self._bad(number, f"name: '{token.name}' stands in {known} already")
        for secret in filter(None, (token.sha256, token.previous_sha256)):
            if secret in self._digests:
                self._bad(number, f"sha256: the same secret stands in {self._digests[secret]}")
            self._digests.setdefault(secret, place)
        self.tokens[number] = token

    def _bad(self, number: int, why: str) -> None:
        self.bad.append((number, why))


def _many(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def _checks(currency: str) -> dict[str, Callable[[Any], Any]]:
    times = dict.fromkeys(("created", "expires", "revoked", "previous_until"), values.moment)
    return {
        **times,
        "name": _text(values.name),
        "sha256": _text(_digest),
        "previous_sha256": _text(_digest),
        "models": _texts(values.models),
        "operations": _texts(values.operations),
        "ips": _texts(values.ips),
        "rate": _text(values.rate),
        "token_budget": _text(values.token_budget),
        "budget": _text(partial(values.budget, currency=currency)),
        "concurrency": values.concurrency,
        "note": _text(values.note),
    }


def _text(check: Callable[[str], str]) -> Callable[[Any], str]:
    def checked(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("is no text")
        return check(value)

    return checked


def _texts(check: Callable[[list[str]], tuple[str, ...]]) -> Callable[[Any], tuple[str, ...]]:
    def checked(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ValueError("is no list of texts")
        return check(value)

    return checked


def _digest(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):  # the text is not shown: it may be a secret
        raise ValueError("is no SHA-256: 64 hexadecimal digits in lower case")
    return text
