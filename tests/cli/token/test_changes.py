"""`modelway token new`, `create`, `rotate` and `revoke`: what they print, store and refuse."""

import re
import time

import pytest
import yaml

from engine.plan.make import make_plan
from engine.stores.records import tokens
from engine.stores.records.database import open_database
from engine.values.caller import digest
from tests.support.commands import GOOD, assert_refused, modelway

pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.mark.parametrize(
    ("args", "entry"),
    [
        (["alice"], {"name": "alice"}),
        (["alice", "--expires", "2027-01-31"], {"name": "alice", "expires": "2027-01-31"}),
        (
            ["alice", "--models", "gpt-4o*", "--models", "org/m:x"],
            {"name": "alice", "models": ["gpt-4o*", "org/m:x"]},
        ),
        (['a "quoted" \\ name: {x}'], {"name": 'a "quoted" \\ name: {x}'}),
        (["007"], {"name": "007"}),
        (["true"], {"name": "true"}),
        (["null"], {"name": "null"}),
        (["é # x"], {"name": "é # x"}),
        (["two\nlines"], {"name": "two\nlines"}),
    ],
)
def test_a_new_token_has_an_entry_that_works_when_pasted(folder, args, entry):
    result = modelway("token", "new", *args)
    assert result.exit_code == 0
    secret = re.search(r"^  (mw-[0-9a-f]{64})$", result.output, re.MULTILINE)[1]
    pasted = result.output[result.output.index("  - {") :]
    text = GOOD + "models: {gpt-4o: {to: [{upstream: main}]}}\ntokens:\n" + pasted
    planned = make_plan(folder / "gateway.yaml", {}, text)
    assert planned.findings.errors == []
    caller = planned.plan.config.tokens[digest(secret)]
    assert caller.name == entry["name"]
    assert list(caller.models or []) == entry.get("models", [])
    assert (caller.expires is not None) == ("expires" in entry)
    assert secret not in pasted


def test_two_tokens_have_different_secrets():
    secrets = [re.search(r"mw-\w+", modelway("token", "new", "a").output)[0] for _ in range(2)]
    assert secrets[0] != secrets[1]


@pytest.mark.parametrize("bad", ["tomorrow", "2027-02-30", "31.01.2027", ""])
def test_a_token_with_an_invalid_date_is_refused(bad):
    result = modelway("token", "new", "a", "--expires", bad)
    assert result.exit_code == 2
    assert "mw-" not in result.output


def test_an_empty_name_is_refused():
    assert modelway("token", "new", "").exit_code == 2


def test_the_entry_of_a_token_is_yaml():
    output = modelway("token", "new", "alice").output
    entry = yaml.safe_load(output[output.index("  - {") :])[0]
    assert set(entry) == {"name", "sha256"}


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


def test_rotate_prints_a_new_secret_and_keeps_the_old_one_for_the_grace_time(on, records_url):
    old = on("create", "--name", "shop").stdout.strip()
    rotated = on("rotate", "shop", "--grace", "1h")
    assert SECRET.fullmatch(rotated.stdout)
    assert "the old one is valid until" in rotated.stderr
    database = open_database(records_url)

    def find(secret):
        return tokens.caller_lookup(database, "USD")([digest(secret)]).get(digest(secret))

    assert find(rotated.stdout.strip()).expires is None
    assert abs(find(old).expires - time.time() - 3600) < 60
    again = on("rotate", "shop", "--grace", "0s")
    assert "the secret before that" in again.stderr
    assert find(old) is None
    assert find(rotated.stdout.strip()) is None
    database.close()


def test_an_invalid_grace_time_is_refused(local):
    local("create", "--name", "a")
    assert_refused(local("rotate", "a", "--grace", "1 day"), "is not a duration", status=2)


def test_a_revoked_token_stays_revoked(on):
    on("create", "--name", "shop")
    assert "refuse it within 10 s" in on("revoke", "shop").stderr
    again = on("revoke", "shop")
    assert again.exit_code == 0
    assert "was already revoked" in again.stderr
    assert_refused(on("rotate", "shop"), "is revoked", "create another")


@pytest.mark.parametrize("command", ["show", "revoke", "rotate"])
def test_an_unknown_name_has_a_suggestion(on, command):
    on("create", "--name", "shop-eu")
    assert_refused(on(command, "shop-ue"), "there is no token 'shop-ue'", "did you mean 'shop-eu'?")
