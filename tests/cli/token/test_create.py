"""`modelway token create`: what it prints, stores and refuses."""

import json
import re
import time

import pytest

from engine.stores.database import tokens
from engine.stores.database.open_database import open_database
from engine.values.caller import digest
from tests.support.commands import assert_refused

pytestmark = pytest.mark.usefixtures("empty_folder")


SECRET = re.compile(r"mw-[0-9a-f]{64}\n")


def test_create_prints_only_the_secret_and_stores_its_digest(on, records_url):
    result = on(
        *("create", "--name", "shop", "--models", "gpt-4o*, o1", "--models", "x"),
        *("--operations", "openai.*", "--ips", "10.0.0.0/8,::1", "--expires", "90d"),
        *("--rate", "60/1m", "--token-budget", "1000000/1d", "--budget", "20 USD/30d"),
        *("--concurrency", "10", "--note", "for the shop"),
    )
    assert result.exit_code == 0, result.output
    assert SECRET.fullmatch(result.stdout)
    secret = result.stdout.strip()
    assert secret not in result.stderr
    database = open_database(records_url)
    stored = tokens.get(database, "shop")
    database.close()
    assert stored.sha256 == digest(secret)
    assert stored.models == ("gpt-4o*", "o1", "x")
    assert stored.operations == ("openai.*",)
    assert stored.ips == ("10.0.0.0/8", "::1")
    assert (stored.rate, stored.token_budget, stored.budget) == (
        "60/1m",
        "1000000/1d",
        "20 USD/30d",
    )
    assert (stored.concurrency, stored.note) == (10, "for the shop")
    assert abs(stored.expires - time.time() - 90 * 86_400) < 60
    assert abs(stored.created - time.time()) < 60


def test_a_token_without_options_has_no_limits(on, records_url):
    secret = on("create", "--name", "free").stdout.strip()
    database = open_database(records_url)
    caller = tokens.get(database, "free").caller(digest(secret), "USD")
    database.close()
    assert (caller.models, caller.operations, caller.ips) == (None, None, None)
    assert (caller.expires, caller.limits) == (None, ())


def test_a_token_is_valid_until_the_end_of_the_day(local, tmp_path):
    local("create", "--name", "a", "--expires", "2999-12-31")
    assert "2999-12-31" not in local("show", "a").stdout
    assert "expires           3000-01-01T00:00:00Z" in local("show", "a").stdout


def test_names_are_unique(on):
    on("create", "--name", "shop")
    assert_refused(on("create", "--name", "shop"), "already", "modelway token rotate shop")


def test_json_has_the_name_and_the_secret(local):
    document = json.loads(local("create", "--name", "shop", "--json").stdout)
    assert document["name"] == "shop"
    stored = json.loads(local("show", "shop", "--json").stdout)
    assert stored["sha256"] == digest(document["secret"])


def test_a_token_cannot_have_the_name_of_an_issuers_caller(local, tmp_path):
    entry = "{issuer: 'https://login.example.com/', audience: modelway}"
    (tmp_path / "gateway.yaml").write_text(f"version: 1\ncallers: {{jwt: [{entry}]}}\n")
    message = "names that begin with 'login.example.com:' are those of an issuer in `callers.jwt`"
    assert_refused(local("create", "--name", "login.example.com:ada"), message)
    (tmp_path / "t.jsonl").write_text(
        json.dumps({"name": "login.example.com:bob", "sha256": digest("x" * 40)})
    )
    result = local("import", "t.jsonl")
    assert (result.exit_code, message in result.output) == (1, True)
    assert local("create", "--name", "ada").exit_code == 0
