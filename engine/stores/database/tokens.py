"""Tokens in the database: create, look up, rotate, revoke."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, or_, select, update

from engine.stores.database.database import Database
from engine.stores.database.failures import Clash, DatabaseError
from engine.stores.database.schema import tokens as table
from engine.values import quota
from engine.values.admission import check_priority
from engine.values.caller import Caller
from engine.values.client_address import networks
from engine.values.quota import Quota

_PAGE = 1000
_Row = Row[Any]


@dataclass(frozen=True, slots=True)
class Token:
    """A row of the table. Times are Unix seconds; None sets no bound, an empty list allows none.

    `rate` is like `60/1m`, `token_budget` like `1000000/1d`, `budget` like `20 USD/month`,
    `warn_at` like `80%`.
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
    team: str | None = None
    priority: str | None = None
    warn_at: tuple[str, ...] | None = None

    def limits(self, currency: str) -> tuple[Quota, ...]:
        """The quotas of the token. Raises ValueError for an invalid value, or another currency."""
        bounds = ((field, getattr(self, field)) for field in quota.TOKEN_FIELDS)
        warn_at = quota.percentages(self.warn_at or ())
        return tuple(quota.token_quota(f, b, currency, warn_at) for f, b in bounds if b is not None)

    def caller(self, digest: str, currency: str) -> Caller:
        """The caller with the secret of this digest. Raises ValueError for an invalid record, so
        that no bound is ignored. A revoked token expires in 1970, so that no clock accepts it.
        """
        networks(self.ips or ())
        expirations = [self.expires]
        if digest != self.sha256:
            expirations.append(self.previous_until or 0.0)
        if self.revoked is not None:
            expirations.append(0.0)
        return Caller(
            self.name,
            models=self.models,
            expires=min((time for time in expirations if time is not None), default=None),
            operations=self.operations,
            ips=self.ips,
            limits=self.limits(currency),
            team=self.team or "",
            priority=check_priority(self.priority) if self.priority else "",
        )


class UnknownToken(DatabaseError):
    """There is no token with this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no token '{name}'")
        self.name = name


_COLUMNS = [table.c[field.name] for field in fields(Token)]
_LISTS = ("models", "operations", "ips", "warn_at")
BY_DIGEST = select(*_COLUMNS).where(
    or_(
        table.c.sha256.in_(bindparam("digests", expanding=True)),
        table.c.previous_sha256.in_(bindparam("digests", expanding=True)),
    )
)
_BY_NAME = select(*_COLUMNS).where(table.c.name == bindparam("name"))


def caller_lookup(
    database: Database, currency: str
) -> Callable[[Sequence[str]], dict[str, Caller | ValueError]]:
    """The lookup of a TokenCache: a function that returns the callers of some digests, by digest,
    with one query. An invalid record is a ValueError; an unknown digest is left out."""

    def look_up(digests: Sequence[str]) -> dict[str, Caller | ValueError]:
        parameters = {"digests": _padded(digests)}
        try:
            rows = database.read(lambda c: c.execute(BY_DIGEST, parameters).all())
        except ValueError as error:  # a column that is not JSON: only its own token is invalid
            if len(digests) == 1:
                return {digests[0]: error}
            half = len(digests) // 2
            return look_up(digests[:half]) | look_up(digests[half:])
        requested = set(digests)
        callers: dict[str, Caller | ValueError] = {}
        for column in ("previous_sha256", "sha256"):  # the current one takes precedence
            for row in rows:
                digest = getattr(row, column)
                if digest in requested:
                    callers[digest] = _caller(row, digest, currency)
        return callers

    return look_up


class TokenList:
    """The tokens of a database, for operators."""

    def __init__(self, database: Database, currency: str) -> None:
        self._database = database
        self._currency = currency

    def first_to_expire(self, limit: int) -> list[Caller]:
        """The callers of so many tokens that are not revoked, those that expire first. An invalid
        record is left out: no request is made with it. Raises DatabaseError."""
        order = table.c.expires.is_(None), table.c.expires, table.c.name
        query = select(*_COLUMNS).where(table.c.revoked.is_(None)).order_by(*order).limit(limit)
        rows = self._database.read(lambda c: c.execute(query).all())
        callers = (_caller(row, row.sha256, self._currency) for row in rows)
        return [caller for caller in callers if isinstance(caller, Caller)]


def _padded(digests: Sequence[str]) -> list[str]:
    """The digests, the last one repeated up to a power of two, so that few statements differ."""
    size = 1 << (len(digests) - 1).bit_length()
    return [*digests, *[digests[-1]] * (size - len(digests))]


def _caller(row: _Row, digest: str, currency: str) -> Caller | ValueError:
    try:
        return _token(row).caller(digest, currency)
    except ValueError as error:
        return error


def get(database: Database, name: str) -> Token:
    """The token with this name. Raises UnknownToken."""
    return _existing(database.read(lambda c: c.execute(_BY_NAME, {"name": name}).first()), name)


def names_near(database: Database, name: str) -> list[str]:
    """Up to 1000 names with the same first letter, or else any names."""
    column = table.c.name
    query = select(column).where(column.startswith(name[:1], autoescape=True)).limit(_PAGE)
    names = database.read(lambda c: c.execute(query).scalars().all())
    if not names:
        names = database.read(lambda c: c.execute(select(column).limit(_PAGE)).scalars().all())
    return list(names)


def get_all(database: Database) -> Iterator[Token]:
    """All tokens by name, read a page at a time to bound the memory."""
    page = select(*_COLUMNS).order_by(table.c.name).limit(_PAGE)
    rows = database.read(lambda c: c.execute(page).all())
    while rows:
        yield from map(_token, rows)
        after = page.where(table.c.name > rows[-1].name)
        rows = database.read(lambda c, after=after: c.execute(after).all())  # type: ignore[misc]


def add(database: Database, tokens: Iterable[Token]) -> None:
    """Insert all tokens or none. Raises Clash for a name or secret that exists."""
    rows = [asdict(token) for token in tokens]

    def insert_all(connection: Connection) -> None:
        for start in range(0, len(rows), _PAGE):
            connection.execute(insert(table), rows[start : start + _PAGE])

    database.write(insert_all)


def find_conflicts(database: Database, tokens: Sequence[Token]) -> tuple[set[str], set[str]]:
    """The names and the digests of these tokens that exist in the database."""
    names: set[str] = set()
    digests: set[str] = set()
    for start in range(0, len(tokens), _PAGE // 4):
        part = tokens[start : start + _PAGE // 4]
        secrets = [d for t in part for d in (t.sha256, t.previous_sha256) if d is not None]
        current, previous = table.c.sha256, table.c.previous_sha256
        query = select(table.c.name, current, previous).where(
            or_(
                table.c.name.in_([t.name for t in part]),
                current.in_(secrets),
                previous.in_(secrets),
            )
        )
        rows = database.read(lambda c, query=query: c.execute(query).all())  # type: ignore[misc]
        names.update(row.name for row in rows)
        digests.update(d for row in rows for d in row[1:] if d is not None)
    return names, digests


def rotate(database: Database, name: str, sha256: str, until: float | None, now: float) -> Token:
    """Give the token another secret; the old one is accepted until `until`. Returns the token
    before the change. A secret from before an earlier rotation ends at once.

    Raises UnknownToken, and Clash if the token is revoked or has expired.
    """

    def change(connection: Connection) -> Token:
        before = _locked(connection, name)
        if before.revoked is not None or (before.expires is not None and before.expires <= now):
            state = "is revoked" if before.revoked is not None else "has expired"
            raise Clash(f"token '{name}' {state}, so a new secret would be refused: create another")
        previous = (before.sha256, until) if until is not None else (None, None)
        values = {"sha256": sha256, "previous_sha256": previous[0], "previous_until": previous[1]}
        connection.execute(update(table).where(table.c.name == name).values(values))
        return before

    return database.write(change)


def change(database: Database, name: str, values: Mapping[str, object]) -> Token:
    """Change columns of a token. Returns the token before the change. Raises UnknownToken, and
    Clash if the token is revoked.
    """

    def write(connection: Connection) -> Token:
        before = _locked(connection, name)
        if before.revoked is not None:
            raise Clash(f"token '{name}' is revoked: create another")
        connection.execute(update(table).where(table.c.name == name).values(dict(values)))
        return before

    return database.write(write)


def revoke(database: Database, name: str, now: float) -> Token:
    """Revoke the token; idempotent. Returns the token before the change. Raises UnknownToken."""

    def change(connection: Connection) -> Token:
        before = _locked(connection, name)
        if before.revoked is None:
            connection.execute(update(table).where(table.c.name == name).values(revoked=now))
        return before

    return database.write(change)


def _locked(connection: Connection, name: str) -> Token:
    return _existing(connection.execute(_BY_NAME.with_for_update(), {"name": name}).first(), name)


def _existing(row: _Row | None, name: str) -> Token:
    if row is None:
        raise UnknownToken(name)
    return _token(row)


def _token(row: _Row) -> Token:
    values = row._asdict()
    for key in _LISTS:
        if values[key] is not None:
            if not isinstance(values[key], list):
                raise ValueError(f"'{key}' is not a list")
            values[key] = tuple(values[key])
    return Token(**values)
