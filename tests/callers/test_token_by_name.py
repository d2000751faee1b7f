"""A token of the database by its name: read, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import text, update

from engine.callers import token_by_name
from engine.callers.token_by_name import TokenNotFound
from engine.stores.database import tokens
from engine.stores.database.database import Database
from engine.stores.database.open_database import open_database
from engine.stores.database.schema import tokens as table
from engine.stores.database.tokens import Token


def refusal_of(url: str, name: str = "alice", currency: str = "USD") -> str:
    with pytest.raises(TokenNotFound) as caught:
        token_by_name.caller(url, name, currency)
    return str(caught.value)


@pytest.fixture
def url(records: Database, records_url: str) -> str:
    active = Token("alice", "a" * 64, 1.0, models=("gpt-*",), rate="60/1m", expires=9e9)
    revoked = Token("robert", "b" * 64, 1.0, revoked=5.0)
    tokens.add(records, [active, revoked])
    return records_url


def test_lookup_returns_the_caller_of_the_token(url: str) -> None:
    caller = token_by_name.caller(url, "alice", "USD")
    assert (caller.name, caller.models, caller.expires) == ("alice", ("gpt-*",), 9e9)
    assert [limit.kind for limit in caller.limits] == ["requests"]


def test_a_revoked_token_has_expired(url: str) -> None:
    assert token_by_name.caller(url, "robert", "USD").expires == 0.0


def test_a_near_name_is_named(url: str) -> None:
    assert "did you mean 'alice'?" in refusal_of(url, "alica")
    assert "known: alice, robert" in refusal_of(url, "somebody-else")


def test_an_empty_database_says_so(records: Database, records_url: str) -> None:
    assert refusal_of(records_url).endswith("it has no tokens yet")


def test_a_record_that_makes_no_sense_is_no_caller(records: Database, url: str) -> None:
    records.write(lambda c: c.execute(update(table).values(rate="often")))
    assert re.search("its record in .* is invalid", refusal_of(url))


def test_tables_are_not_made(records_url: str, tmp_path: Path) -> None:
    if records_url.startswith("sqlite"):
        assert "there is no database" in refusal_of(records_url)
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "records.db").touch()
    assert "are not up to date" in refusal_of(records_url)
    database = open_database(records_url)
    tables = "sqlite_master" if database.kind == "sqlite" else "pg_tables WHERE schemaname='public'"
    counted = text(f"SELECT count(*) FROM {tables}")  # noqa: S608 - names of our own
    assert database.read(lambda c: c.execute(counted).scalar()) == 0
    database.close()


def test_a_server_that_is_away_is_said_without_its_password() -> None:
    words = refusal_of("postgresql+psycopg://me:hunter2@127.0.0.1:9/name?connect_timeout=2")
    assert "does not answer" in words
    assert "hunter2" not in words


def test_an_invalid_database_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database at all, and long enough to see that" * 20)
    assert "no SQLite database" in refusal_of(f"sqlite:///{tmp_path}/x.db")
    assert "is not a supported database" in refusal_of("mysql://host/x")
