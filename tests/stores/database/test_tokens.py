"""Tokens in the database, on both kinds alike."""

import multiprocessing

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from engine.stores.database import tokens
from engine.stores.database.failures import Clash
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.tokens import Token, UnknownToken
from engine.values.caller import digest, new_secret
from engine.values.quota import Quota

NOW = 1_800_000_000.25
FULL = Token(
    name="Łódź 🚀 'quoted' %s",
    sha256=digest("a"),
    created=NOW,
    models=("gpt-4o*", "o1"),
    operations=("openai.*",),
    ips=("10.0.0.0/8", "::1"),
    rate="60/1m",
    token_budget="1000000/1d",
    budget="20 USD/30d",
    concurrency=10,
    expires=NOW + 1000.125,
    revoked=None,
    previous_sha256=digest("before"),
    previous_until=NOW + 10,
    note="for 'us'; DROP TABLE tokens",
    team="Łódź",
    priority="high",
)
PLAIN = Token(name="plain", sha256=digest("b"), created=NOW)


def caller_with(records, hashed):
    """The caller with a secret of this digest, or None."""
    return tokens.caller_lookup(records, "USD")([hashed]).get(hashed)


@pytest.mark.parametrize("token", [FULL, PLAIN, replace(PLAIN, models=(), ips=(), operations=())])
def test_a_token_is_read_as_it_was_added(records, token):
    tokens.add(records, [token])
    assert tokens.get(records, token.name) == token
    assert list(tokens.get_all(records)) == [token]


def test_a_token_is_found_by_its_secret_before_the_rotation(records):
    tokens.add(records, [FULL, PLAIN])
    assert caller_with(records, digest("before")).name == FULL.name


@pytest.mark.parametrize("hashed", ["", digest("c"), digest("a").upper(), digest("a")[:-1], "%"])
def test_another_digest_finds_nothing(records, hashed):
    tokens.add(records, [FULL, PLAIN])
    assert caller_with(records, hashed) is None


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAIN, sha256=digest("c")),
        replace(PLAIN, name="other"),
        replace(FULL, name="other", sha256=digest("c")),
    ],
    ids=["name", "secret", "previous secret"],
)
def test_a_clash_adds_no_token(records, other):
    tokens.add(records, [FULL, PLAIN])
    fresh = Token(name="fresh", sha256=digest("fresh"), created=NOW)
    with pytest.raises(Clash):
        tokens.add(records, [fresh, other])
    assert sorted(token.name for token in tokens.get_all(records)) == sorted([FULL.name, "plain"])


def test_every_token_comes_once_however_many_pages_there_are(records):
    many = [Token(name=f"t{n}", sha256=digest(str(n)), created=NOW) for n in range(2001)]
    tokens.add(records, many)
    assert sorted(token.name for token in tokens.get_all(records)) == sorted(t.name for t in many)


def test_rotation_keeps_the_old_secret_until_its_time_is_over(records):
    tokens.add(records, [PLAIN])
    before = tokens.rotate(records, "plain", digest("new"), NOW + 60, NOW)
    assert before == PLAIN
    after = tokens.get(records, "plain")
    assert after == replace(
        PLAIN, sha256=digest("new"), previous_sha256=digest("b"), previous_until=NOW + 60
    )
    assert after.caller(digest("new"), "USD").expires is None
    assert after.caller(digest("b"), "USD").expires == NOW + 60


def test_rotation_without_grace_ends_the_old_secret(records):
    tokens.add(records, [FULL])
    tokens.rotate(records, FULL.name, digest("new"), None, NOW)
    assert caller_with(records, digest("a")) is None
    assert caller_with(records, digest("before")) is None
    assert caller_with(records, digest("new")).name == FULL.name


def test_a_second_rotation_ends_the_first_secret(records):
    tokens.add(records, [PLAIN])
    tokens.rotate(records, "plain", digest("second"), NOW + 60, NOW)
    tokens.rotate(records, "plain", digest("third"), NOW + 60, NOW)
    assert caller_with(records, digest("b")) is None
    assert caller_with(records, digest("second")).name == "plain"


@pytest.mark.parametrize(
    ("change", "words"),
    [({"revoked": NOW - 1}, "is revoked"), ({"expires": NOW}, "has expired")],
)
def test_a_token_that_has_ended_is_not_rotated(records, change, words):
    ended = replace(PLAIN, **change)
    tokens.add(records, [ended])
    with pytest.raises(Clash, match=words):
        tokens.rotate(records, "plain", digest("new"), None, NOW)
    assert tokens.get(records, "plain") == ended


def test_a_change_leaves_the_other_columns(records):
    tokens.add(records, [FULL])
    assert tokens.change(records, FULL.name, {"budget": "5 USD/month", "rate": None}) == FULL
    assert tokens.get(records, FULL.name) == replace(FULL, budget="5 USD/month", rate=None)


def test_a_revoked_token_is_not_changed(records):
    tokens.add(records, [PLAIN])
    tokens.revoke(records, "plain", NOW)
    with pytest.raises(Clash, match="is revoked: create another"):
        tokens.change(records, "plain", {"rate": "1/day"})


def test_revoking_keeps_the_first_time(records):
    tokens.add(records, [PLAIN])
    assert tokens.revoke(records, "plain", NOW) == PLAIN
    assert tokens.revoke(records, "plain", NOW + 5).revoked == NOW
    assert tokens.get(records, "plain").revoked == NOW


@pytest.mark.parametrize(
    "ask",
    [
        tokens.get,
        lambda database, name: tokens.revoke(database, name, NOW),
        lambda database, name: tokens.rotate(database, name, digest("new"), None, NOW),
        lambda database, name: tokens.change(database, name, {"rate": None}),
    ],
    ids=["named", "revoke", "rotate", "change"],
)
def test_an_unknown_name_is_reported(records, ask):
    with pytest.raises(UnknownToken, match="'nobody'"):
        ask(records, "nobody")


def test_similar_names_have_the_same_first_letter(records):
    names = ("%a", "shop", "ship")
    tokens.add(records, [Token(name=name, sha256=digest(name), created=NOW) for name in names])
    assert sorted(tokens.names_near(records, "shup")) == ["ship", "shop"]
    assert tokens.names_near(records, "%") == ["%a"]
    assert sorted(tokens.names_near(records, "x")) == ["%a", "ship", "shop"]


def test_conflicts_are_found_before_they_are_added(records):
    tokens.add(records, [FULL, PLAIN])
    candidates = [Token(f"n{n}", digest(f"n{n}"), NOW) for n in range(600)]
    candidates += [Token("plain", digest("y"), NOW), Token("z", digest("before"), NOW)]
    names, digests = tokens.find_conflicts(records, candidates)
    assert names == {"plain", FULL.name}
    assert digests == {FULL.sha256, FULL.previous_sha256, PLAIN.sha256}


def test_a_caller_has_the_bounds_of_its_token():
    caller = FULL.caller(FULL.sha256, "USD")
    assert (caller.name, caller.models, caller.operations) == (
        FULL.name,
        FULL.models,
        FULL.operations,
    )
    assert caller.ips == FULL.ips
    assert caller.expires == FULL.expires
    assert caller.limits == (
        Quota("requests", 60, 60.0),
        Quota("tokens", 1_000_000, 86_400.0),
        Quota("spend", 20 * 10**9, 30 * 86_400.0),
        Quota("concurrency", 10, 0.0),
    )


@pytest.mark.parametrize(
    ("change", "hashed", "expires"),
    [
        ({}, "a", NOW + 1000.125),
        ({}, "before", NOW + 10),
        ({"expires": None}, "a", None),
        ({"expires": NOW + 5}, "before", NOW + 5),
        ({"expires": None, "previous_until": None}, "before", 0.0),
        ({"revoked": NOW + 99}, "a", 0.0),
        ({"revoked": NOW - 99, "expires": None}, "before", 0.0),
    ],
)
def test_a_secret_expires_at_the_earliest_of_its_bounds(change, hashed, expires):
    assert replace(FULL, **change).caller(digest(hashed), "USD").expires == expires


@pytest.mark.parametrize(
    "change",
    [
        {"rate": "60"},
        {"token_budget": "many/1d"},
        {"budget": "20 EUR/30d"},
        {"ips": ("10.0.0.1/8",)},
        {"priority": "urgent"},
    ],
)
def test_an_invalid_bound_is_not_ignored(change):
    with pytest.raises(ValueError, match="is"):
        replace(FULL, **change).caller(FULL.sha256, "USD")


@pytest.mark.parametrize("wrong", ['"gpt"', "{}", "7"])
def test_a_column_that_is_not_a_list_invalidates_its_own_token_only(records, wrong):
    tokens.add(records, [FULL, PLAIN])
    change = text("UPDATE tokens SET models = :wrong WHERE name = :name")
    if records.kind == "postgresql":
        change = text("UPDATE tokens SET models = CAST(:wrong AS json) WHERE name = :name")
    records.write(lambda c: c.execute(change, {"wrong": wrong, "name": FULL.name}))
    callers = tokens.caller_lookup(records, "USD")([FULL.sha256, PLAIN.sha256, digest("nobody")])
    assert "'models' is not a list" in str(callers.pop(FULL.sha256))
    assert {hashed: caller.name for hashed, caller in callers.items()} == {PLAIN.sha256: "plain"}


def test_a_column_that_is_not_json_invalidates_its_own_token_only(tmp_path):
    """PostgreSQL keeps none that is not."""
    database = open_database(f"sqlite:///{tmp_path}/records.db")
    upgrade(database)
    valid = [Token(f"t{n}", digest(f"t{n}"), NOW) for n in range(20)]
    tokens.add(database, [*valid[:10], FULL, *valid[10:]])
    broken = text("UPDATE tokens SET ips = '[1' WHERE name = :name")
    database.write(lambda c: c.execute(broken, {"name": FULL.name}))
    callers = tokens.caller_lookup(database, "USD")([t.sha256 for t in (*valid, FULL)])
    assert isinstance(callers.pop(FULL.sha256), ValueError)
    assert {caller.name for caller in callers.values()} == {f"t{n}" for n in range(20)}
    database.close()


@pytest.mark.parametrize("count", [1, 2, 3, 255, 256])
def test_callers_are_looked_up_by_their_digests(records, count):
    tokens.add(records, [PLAIN, FULL])
    guesses = [digest(f"guess {n}") for n in range(count - 1)]
    find = tokens.caller_lookup(records, "USD")
    assert find([*guesses, PLAIN.sha256])[PLAIN.sha256].name == "plain"
    assert find([*guesses, digest("before")])[digest("before")].expires == NOW + 10
    assert find([*guesses, digest("nobody")]) == {}


def test_both_secrets_of_a_rotated_token_are_looked_up_at_once(records):
    tokens.add(records, [FULL])
    callers = tokens.caller_lookup(records, "USD")([digest("before"), FULL.sha256])
    assert callers[FULL.sha256].expires == NOW + 1000.125
    assert callers[digest("before")].expires == NOW + 10


def _rotate_often(url, barrier, digests):
    database = open_database(url)
    barrier.wait(30)
    for _ in range(10):
        digests.put(tokens.rotate(database, "plain", digest(new_secret()), NOW, NOW).sha256)
    database.close()


def test_rotations_at_once_come_one_after_another(records, records_url):
    """Each finds what the one before has left: no secret is replaced twice."""
    tokens.add(records, [PLAIN])
    records.close()
    context = multiprocessing.get_context("fork")
    barrier, digests = context.Barrier(3), context.Queue()
    started = [
        context.Process(target=_rotate_often, args=(records_url, barrier, digests))
        for _ in range(3)
    ]
    for process in started:
        process.start()
    replaced = {digests.get(timeout=60) for _ in range(30)}
    for process in started:
        process.join(60)
    assert len(replaced) == 30


def test_a_lookup_uses_the_indexes(records):
    def plan(connection):
        if records.kind == "postgresql":
            connection.execute(text("SET enable_seqscan = off"))  # there are too few rows to see
            command = "EXPLAIN {}"
        else:
            command = "EXPLAIN QUERY PLAN {}"
        statement = tokens.BY_DIGEST.params(digests=[digest(str(n)) for n in range(256)])
        query = statement.compile(connection, compile_kwargs={"literal_binds": True})
        rows = connection.exec_driver_sql(command.format(query)).all()
        connection.invalidate()
        return " ".join(map(str, rows))

    query_plan = records.read(plan)
    assert "SCAN tokens" not in query_plan
    assert "Seq Scan" not in query_plan


def test_tokens_are_listed_by_their_expiry_without_revoked_ones(records):
    rows = [
        replace(PLAIN, name=name, sha256=digest(name), expires=expires, revoked=revoked)
        for name, expires, revoked in (
            *(("never", None, None), ("late", NOW + 9, None), ("soon", NOW + 1, None)),
            ("revoked", NOW, NOW),
        )
    ]
    tokens.add(records, [*rows, replace(PLAIN, name="odd", sha256=digest("odd"), rate="often")])
    listed = tokens.TokenList(records, "USD")
    assert [caller.name for caller in listed.first_to_expire(9)] == ["soon", "late", "never"]
    assert [caller.name for caller in listed.first_to_expire(1)] == ["soon"]
