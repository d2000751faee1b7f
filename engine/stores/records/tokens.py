"""Tokens in the database: made, looked up, rotated, revoked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, insert, or_, select, update

from engine.stores.records.database import Database
from engine.stores.records.failures import Clash, RecordsError
from engine.stores.records.schema import tokens as table
from engine.values import quota
from engine.values.caller import Caller
from engine.values.client_address import networks
from engine.values.quota import Quota

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept. Times are Unix seconds; None sets no bound, an empty list allows none.

    `rate` is like `60/1m`, `token_budget` like `1000000/1d`, `budget` like `20 USD/30d`.
    `previous_sha256` is the secret before a rotation, accepted until `previous_until`.
    """

    name: str
    sha256: str
    created: float
    models: tuple[str, ...] | None = None
    operations: tuple[str, ...] | None = None
    ips: tuple[str, ...] | None = None
    rate: str | None = None
    token_budget: str | None = None
    budget: str | None = None
    concurrency: int | None = None
    expires: float | None = None
    revoked: float | None = None
    previous_sha256: str | None = None
    previous_until: float | None = None
    note: str = ""

    def limits(self, currency: str) -> tuple[Quota, ...]:
        """What it may use at most. ValueError for what is not understood, or other money."""
        found = []
        if self.rate is not None:
            found.append(quota.count("requests", self.rate))
        if self.token_budget is not None:
            found.append(quota.count("tokens", self.token_budget))
        if self.budget is not None:
            found.append(quota.money(self.budget, currency))
        if self.concurrency is not None:
            found.append(Quota("concurrency", self.concurrency))
        return tuple(found)

    def caller(self, digest: str, currency: str) -> Caller:
        """Who calls with the secret of this digest. ValueError for a record that makes no sense:
        a bound that cannot be kept must not be left out.

        A revoked token has expired in 1970, so that no machine's clock can say otherwise.
        """
        networks(self.ips or ())
        ends = [self.expires]
        if digest != self.sha256:
            ends.append(self.previous_until or 0.0)
        if self.revoked is not None:
            ends.append(0.0)
        return Caller(
            self.name,
            models=self.models,
            expires=min((end for end in ends if end is not None), default=None),
            operations=self.operations,
            ips=self.ips,
            limits=self.limits(currency),
        )


class UnknownToken(RecordsError):
    """There is no token of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no token '{name}'")
        self.name = name


_COLUMNS = [table.c[field.name] for field in fields(Token)]
_LISTS = ("models", "operations", "ips")
_BY_DIGEST = select(*_COLUMNS).where(
    or_(
        table.c.sha256.in_(bindparam("digests", expanding=True)),
        table.c.previous_sha256.in_(bindparam("digests", expanding=True)),
    )
)
_BY_NAME = select(*_COLUMNS).where(table.c.name == bindparam("name"))


def find(database: Database, digest: str) -> Token | None:
    """The token that has this digest, or had it before a rotation."""
    row = database.read(lambda c: c.execute(_BY_DIGEST, {"digests": [digest]}).first())
    return None if row is None else _token(row)


def callers(
    database: Database, currency: str
) -> Callable[[Sequence[str]], dict[str, Caller | ValueError]]:
    """The lookup of a TokenCache: the callers of some digests, by digest, in one query. An invalid
    record is a ValueError that says why; a digest that does not exist is left out."""

    def look_up(digests: Sequence[str]) -> dict[str, Caller | ValueError]:
        asked = {"digests": _padded(digests)}
        try:
            rows = database.read(lambda c: c.execute(_BY_DIGEST, asked).all())
        except ValueError as error:  # a column that is no JSON: it spoils its own token only
            if len(digests) == 1:
                return {digests[0]: error}
            half = len(digests) // 2
            return look_up(digests[:half]) | look_up(digests[half:])
        wanted = set(digests)
        found: dict[str, Caller | ValueError] = {}
        for column in ("previous_sha256", "sha256"):  # one in force counts before a former one
            for row in rows:
                digest = getattr(row, column)
                if digest in wanted:
                    found[digest] = _caller(row, digest, currency)
        return found

    return look_up


def _padded(digests: Sequence[str]) -> list[str]:
    """The digests, the last repeated up to a power of two: few statements for a server to know."""
    size = 1 << (len(digests) - 1).bit_length()
    return [*digests, *[digests[-1]] * (size - len(digests))]


def _caller(row: Row[Any], digest: str, currency: str) -> Caller | ValueError:
    try:
        return _token(row).caller(digest, currency)
    except ValueError as error:
        return error


def named(database: Database, name: str) -> Token:
    """The token of this name. Raises UnknownToken."""
    return _known(database.read(lambda c: c.execute(_BY_NAME, {"name": name}).first()), name)


def names_near(database: Database, name: str) -> list[str]:
    """Some names that begin as this one does, or else any."""
    column = table.c.name
    alike = select(column).where(column.startswith(name[:1], autoescape=True)).limit(_PAGE)
    found = database.read(lambda c: c.execute(alike).scalars().all())
    if not found:
        found = database.read(lambda c: c.execute(select(column).limit(_PAGE)).scalars().all())
    return list(found)


def every(database: Database) -> Iterator[Token]:
    """All tokens by name, a page at a time: a million fit in no memory."""
    page: Select[Any] = select(*_COLUMNS).order_by(table.c.name).limit(_PAGE)
    rows = database.read(lambda c: c.execute(page).all())
    while rows:
        yield from map(_token, rows)
        after = page.where(table.c.name > rows[-1].name)
        rows = database.read(lambda c, after=after: c.execute(after).all())  # type: ignore[misc]


def add(database: Database, made: Iterable[Token]) -> None:
    """Keep all of these, or none. Raises Clash for a name or secret that is taken."""
    rows = [asdict(token) for token in made]

    def insert_all(connection: Connection) -> None:
        for start in range(0, len(rows), _PAGE):
            connection.execute(insert(table), rows[start : start + _PAGE])

    database.write(insert_all)


def taken(database: Database, made: Sequence[Token]) -> tuple[set[str], set[str]]:
    """Which names and which digests of these are taken in the database."""
    names: set[str] = set()
    digests: set[str] = set()
    for start in range(0, len(made), _PAGE // 4):
        part = made[start : start + _PAGE // 4]
        secrets = [d for t in part for d in (t.sha256, t.previous_sha256) if d is not None]
        current, previous = table.c.sha256, table.c.previous_sha256
        asked = select(table.c.name, current, previous).where(
            or_(
                table.c.name.in_([t.name for t in part]),
                current.in_(secrets),
                previous.in_(secrets),
            )
        )
        rows = database.read(lambda c, asked=asked: c.execute(asked).all())  # type: ignore[misc]
        names.update(row.name for row in rows)
        digests.update(d for row in rows for d in row[1:] if d is not None)
    return names, digests


def rotate(database: Database, name: str, sha256: str, until: float | None, now: float) -> Token:
    """Give the token another secret; the old one is accepted until `until`. Returns it as it was.

    Raises UnknownToken, and Clash when the token is revoked or has expired. A secret from before
    an earlier rotation ends at once.
    """

    def do(connection: Connection) -> Token:
        before = _locked(connection, name)
        if before.revoked is not None or (before.expires is not None and before.expires <= now):
            why = "is revoked" if before.revoked is not None else "has expired"
            raise Clash(f"token '{name}' {why}, so a new secret would be refused: create another")
        old = (before.sha256, until) if until is not None else (None, None)
        values = {"sha256": sha256, "previous_sha256": old[0], "previous_until": old[1]}
        connection.execute(update(table).where(table.c.name == name).values(values))
        return before

    return database.write(do)


def revoke(database: Database, name: str, now: float) -> Token:
    """Refuse the token from now on. Returns it as it was; revoking it again changes nothing.

    Raises UnknownToken.
    """

    def do(connection: Connection) -> Token:
        before = _locked(connection, name)
        if before.revoked is None:
            connection.execute(update(table).where(table.c.name == name).values(revoked=now))
        return before

    return database.write(do)


def _locked(connection: Connection, name: str) -> Token:
    return _known(connection.execute(_BY_NAME.with_for_update(), {"name": name}).first(), name)


def _known(row: Row[Any] | None, name: str) -> Token:
    if row is None:
        raise UnknownToken(name)
    return _token(row)


def _token(row: Row[Any]) -> Token:
    values = row._asdict()
    for key in _LISTS:
        if values[key] is not None:
            if not isinstance(values[key], list):
                raise ValueError(f"'{key}' is no list")
            values[key] = tuple(values[key])
    return Token(**values)
