"""`modelway token`, in this process: what it prints where, what it keeps, what it refuses."""

import csv
import io
import json
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine import cli
from engine.stores.records import tokens
from engine.stores.records.database import open_database
from engine.stores.records.migrate import upgrade
from engine.values.caller import digest

SECRET = re.compile(r"mw-[0-9a-f]{64}\n")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "MODELWAY_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def token(*args, **more):
    return CliRunner().invoke(cli.main, ["token", *args], **more)


@pytest.fixture
def on(records_url):
    """The commands on a database of each kind."""

    def run(*args, **more):
        return token(*args, "--database", records_url, **more)

    return run


@pytest.fixture
def local(tmp_path):
    """The commands on a SQLite file."""

    def run(*args, **more):
        return token(*args, "--database", f"sqlite:///{tmp_path}/x.db", **more)

    return run


def refused(result, *words, status=1):
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    assert isinstance(result.exception, SystemExit)
    for said in words:
        assert said in result.stderr


def test_create_prints_only_the_secret_and_stores_its_digest(on, records_url):
    made = on(
        *("create", "--name", "shop", "--models", "gpt-4o*, o1", "--models", "x"),
        *("--operations", "openai.*", "--ips", "10.0.0.0/8,::1", "--expires", "90d"),
        *("--rate", "60/1m", "--token-budget", "1000000/1d", "--budget", "20 USD/30d"),
        *("--concurrency", "10", "--note", "for the shop"),
    )
    assert made.exit_code == 0, made.output
    assert SECRET.fullmatch(made.stdout)
    secret = made.stdout.strip()
    assert secret not in made.stderr
    database = open_database(records_url)
    kept = tokens.get(database, "shop")
    database.close()
    assert kept.sha256 == digest(secret)
    assert kept.models == ("gpt-4o*", "o1", "x")
    assert kept.operations == ("openai.*",)
    assert kept.ips == ("10.0.0.0/8", "::1")
    assert (kept.rate, kept.token_budget, kept.budget) == ("60/1m", "1000000/1d", "20 USD/30d")
    assert (kept.concurrency, kept.note) == (10, "for the shop")
    assert abs(kept.expires - time.time() - 90 * 86_400) < 60
    assert abs(kept.created - time.time()) < 60


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--name", ""], "a token needs a name"),
        (["--name", " a"], "no surrounding space"),
        (["--name", "a\nb"], "visible characters"),
        (["--name", "a" * 201], "at most 200"),
        (["--name", "a\udcff"], "visible characters"),
        (["--models", ""], "is not a model or wildcard"),
        (["--models", "a,,b"], "is not a model or wildcard"),
        (["--operations", "chat"], "is not an operation like openai.createChatCompletion"),
        (["--ips", "10.0.0.1/8"], "host bits must be 0"),
        (["--ips", "10.0.0.0/8,localhost"], "'localhost' is not an address or network"),
        (["--expires", "90"], "'90' is not a time like 90d or 2027-01-31"),
        (["--expires", "soon"], "'soon' is not a time"),
        (["--expires", "0s"], "not a time in the future"),
        (["--expires", "2020-01-31"], "not a time in the future"),
        (["--expires", "2027-02-30"], "is not a time"),
        (["--rate", "60"], "is not an amount per time like 60/1m"),
        (["--rate", "0/1m"], "is not an amount per time"),
        (["--rate", "60/0s"], "has a window of 0 seconds"),
        (["--token-budget", "1MB/1d"], "is not an amount per time"),
        (["--budget", "20/30d"], "is not money per time like 20 USD/30d"),
        (["--budget", "20 EUR/30d"], "is in EUR, but prices are in USD"),
        (["--concurrency", "0"], "is not a number of requests from 1"),
        (["--concurrency", "1.5"], "is not a number of requests from 1"),
        (["--note", "two\nlines"], "one line"),
    ],
)
def test_invalid_options_are_refused(local, tmp_path, options, words):
    named = [] if "--name" in options else ["--name", "a"]
    refused(local("create", *named, *options), words, options[0], status=2)
    assert not (tmp_path / "x.db").exists()


def test_names_are_unique(on):
    on("create", "--name", "shop")
    refused(on("create", "--name", "shop"), "already", "modelway token rotate shop")


def test_list_for_people_and_for_programs(on):
    on("create", "--name", "b", "--models", "x,y", "--rate", "60/1m", "--concurrency", "3")
    on("create", "--name", "a", "--expires", "2999-12-30", "--note", "old, with a comma")
    on("revoke", "a")
    table = on("list").stdout
    assert re.search(r"^a +revoked .*2999-12-31 +old, with a comma", table, re.MULTILINE)
    assert re.search(r"^b +active +x,y +60/1m, 3 at a time", table, re.MULTILINE)
    found = json.loads(on("list", "--format", "json").stdout)
    assert [(one["name"], one["state"]) for one in found] == [("a", "revoked"), ("b", "active")]
    assert found[1]["models"] == ["x", "y"]
    assert found[0]["models"] is None
    rows = list(csv.DictReader(io.StringIO(on("list", "--format", "csv").stdout)))
    assert [row["name"] for row in rows] == ["a", "b"]
    assert rows[1]["models"] == "x,y"
    assert rows[0]["note"] == "old, with a comma"


def test_an_empty_list(on, records_url):
    database = open_database(records_url)
    upgrade(database)
    database.close()
    assert on("list").stdout == ""
    assert "no tokens: create one" in on("list").stderr
    assert json.loads(on("list", "--format", "json").stdout) == []
    assert on("list", "--format", "csv").stdout == ""


def test_show_prints_everything_except_the_secret(local):
    secret = local("create", "--name", "shop", "--models", "gpt-4o*").stdout.strip()
    shown = local("show", "shop").stdout
    assert re.search(r"^state +active$", shown, re.MULTILINE)
    assert re.search(r"^models +gpt-4o\*$", shown, re.MULTILINE)
    assert re.search(r"^operations +all$", shown, re.MULTILINE)
    assert re.search(r"^expires +never$", shown, re.MULTILINE)
    assert secret not in shown


def test_an_expired_token_has_that_state(local):
    line = {"name": "old", "sha256": digest("s"), "expires": 5}
    local("import", "-", input=json.dumps(line))
    assert re.search(r"^state +expired$", local("show", "old").stdout, re.MULTILINE)


@pytest.mark.parametrize("command", ["show", "revoke", "rotate"])
def test_an_unknown_name_has_a_suggestion(on, command):
    on("create", "--name", "shop-eu")
    refused(on(command, "shop-ue"), "there is no token 'shop-ue'", "did you mean 'shop-eu'?")


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
    refused(local("rotate", "a", "--grace", "1 day"), "is not a duration", status=2)


def test_a_revoked_token_stays_revoked(on):
    on("create", "--name", "shop")
    assert "refuse it within 10 s" in on("revoke", "shop").stderr
    again = on("revoke", "shop")
    assert again.exit_code == 0
    assert "was already revoked" in again.stderr
    refused(on("rotate", "shop"), "is revoked", "create another")


def test_exported_tokens_can_be_imported(on, tmp_path):
    secret = on("create", "--name", "a", "--models", "x", "--budget", "20 USD/30d").stdout.strip()
    on("rotate", "a")
    on("create", "--name", "b", "--note", "b's")
    on("revoke", "b")
    lines = on("export").stdout
    assert secret not in lines
    (tmp_path / "all.jsonl").write_text(lines)
    other = ["--database", f"sqlite:///{tmp_path}/other.db"]
    taken_in = token("import", "all.jsonl", *other)
    assert (taken_in.exit_code, taken_in.stderr) == (0, "2 tokens imported.\n")
    assert token("export", *other).stdout == lines
    assert [json.loads(line)["name"] for line in lines.splitlines()] == ["a", "b"]


GOOD = {"name": "good", "sha256": digest("good")}
BAD = [
    ("{", "not JSON"),
    ("[1]", "not a JSON object"),
    ({"name": "x"}, "sha256: missing"),
    ({"sha256": digest("x")}, "name: missing"),
    ({"name": None, "sha256": digest("x")}, "name: missing"),
    ({"name": "x", "sha256": "mw-geheim"}, "sha256: is not a SHA-256"),
    ({"name": "x", "sha256": digest("x").upper()}, "sha256: is not a SHA-256"),
    (
        {"name": "x", "sha256": digest("x"), "secret": "mw-geheim"},
        "import the sha256 of a secret instead",
    ),
    ({"name": "x", "sha256": digest("x"), "modells": []}, "did you mean 'models'?"),
    ({"name": "x", "sha256": digest("x"), "models": "gpt"}, "models: is not a list of texts"),
    ({"name": "x", "sha256": digest("x"), "models": [1]}, "models: is not a list of texts"),
    ({"name": 5, "sha256": digest("x")}, "name: is not a text"),
    ({"name": "x", "sha256": digest("x"), "ips": ["10.0.0.1/8"]}, "ips: '10.0.0.1/8' is no"),
    ({"name": "x", "sha256": digest("x"), "rate": "60"}, "rate: '60' is not"),
    ({"name": "x", "sha256": digest("x"), "budget": "1 EUR/1d"}, "budget: '1 EUR/1d' is in EUR"),
    ({"name": "x", "sha256": digest("x"), "concurrency": True}, "concurrency: 'True' is no"),
    ({"name": "x", "sha256": digest("x"), "concurrency": 0}, "concurrency: '0' is no"),
    ({"name": "x", "sha256": digest("x"), "expires": True}, "expires: 'True' is not a time"),
    ({"name": "x", "sha256": digest("x"), "expires": -1}, "expires: '-1' is not a time"),
    ({"name": "x", "sha256": digest("x"), "expires": "soon"}, "expires: 'soon' is not a time"),
    ({"name": "x", "sha256": digest("x"), "previous_until": 5}, "must be used together"),
    ({"name": "good", "sha256": digest("x")}, "'good' is already in line 1"),
    ({"name": "x", "sha256": digest("good")}, "the same secret is in line 1"),
    ({"name": "taken", "sha256": digest("x")}, "'taken' is already in the database"),
    ({"name": "x", "sha256": digest("taken")}, "in the database has this secret"),
]


def test_an_invalid_line_is_named_and_nothing_is_imported(local, tmp_path):
    local("import", "-", input=json.dumps({"name": "taken", "sha256": digest("taken")}))
    for line, words in BAD:
        text = line if isinstance(line, str) else json.dumps(line)
        (tmp_path / "all.jsonl").write_text(f"{json.dumps(GOOD)}\n\n{text}\n")
        result = local("import", "all.jsonl")
        refused(result, "all.jsonl:3: ", words, "nothing was imported: 1 problem\n")
        assert "geheim" not in result.output
    kept = json.loads(local("list", "--format", "json").stdout)
    assert [one["name"] for one in kept] == ["taken"]


def test_all_invalid_lines_are_named_in_order(local, tmp_path):
    local("create", "--name", "taken")
    lines = [json.dumps({"name": "taken", "sha256": digest("1")}), "{", "[]", json.dumps(GOOD)]
    result = local("import", "-", input="\n".join(lines))
    refused(result, "nothing was imported: 3 problems")
    assert re.findall(r"stdin>?:(\d+):", result.stderr) == ["1", "2", "3"]


def test_a_line_needs_only_a_name_and_a_digest(local):
    line = {"name": "a", "sha256": digest("a"), "expires": "2998-12-31", "models": None}
    assert local("import", "-", input=json.dumps(line)).exit_code == 0
    assert "2999-01-01T00:00:00Z" in local("show", "a").stdout


def test_a_missing_file_is_reported(local):
    refused(local("import", "nowhere.jsonl"), "nowhere.jsonl", status=2)


CONFIG = """version: 1
stores: {records: sqlite:///var/modelway.db, token_ttl: 3s}
currency: EUR
upstreams: {main: {url: "${NOT_SET_HERE}"}}
tokens: [{name: fixed, sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}]
"""


def test_the_config_names_the_database_and_the_currency(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "gateway.yaml").write_text(CONFIG)
    where = ["--config", "home/gateway.yaml"]
    assert token("create", "--name", "a", "--budget", "5 EUR/1d", *where).exit_code == 0
    assert (tmp_path / "home" / "var" / "modelway.db").exists()
    refused(token("create", "--name", "b", "--budget", "5 USD/1d", *where), "in EUR", status=2)
    assert "within 3 s" in token("revoke", "a", *where).stderr


def test_tokens_of_the_config_are_not_changed(tmp_path):
    (tmp_path / "gateway.yaml").write_text(CONFIG)
    refused(token("create", "--name", "fixed"), "is already in gateway.yaml")
    token("create", "--name", "a")
    refused(token("revoke", "fixed"), "is in gateway.yaml: change it there")
    for line in ({"name": "fixed", "sha256": digest("x")}, {"name": "x", "sha256": digest("test")}):
        refused(token("import", "-", input=json.dumps(line)), "in gateway.yaml")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (None, ["cannot read gateway.yaml", "--database"]),
        ("version: 1\n", ["no database is configured", "sqlite:///var/modelway.db"]),
        ("version: [\n", ["cannot be used", "gateway.yaml:"]),
        ("version: 1\nstores: {records: 5}\n", ["gateway.yaml:2:"]),
        ("version: 1\nstores: {records: '${NOT_SET_HERE}'}\n", ["NOT_SET_HERE", "gateway.yaml:2:"]),
        ("version: 1\nstores: {record: x}\n", ["gateway.yaml:2:", "record"]),
        ("version: 1\nstores: {records: mysql://x/y}\n", ["gateway.yaml:2:"]),
    ],
)
def test_a_config_without_a_database_is_explained(tmp_path, config, words):
    if config is not None:
        (tmp_path / "gateway.yaml").write_text(config)
    refused(token("create", "--name", "a"), *words)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://me:geheim@host/x", "is not a supported database"),
        ("postgresql+psycopg://me:geheim@127.0.0.1:1/x", "does not answer"),
        ("sqlite:////proc/nowhere/x.db", "cannot make"),
    ],
)
def test_an_unusable_database_is_reported_in_one_line(url, words):
    result = token("create", "--name", "a", "--database", url)
    refused(result, words)
    assert "geheim" not in result.output
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [["list"], ["show", "a"], ["export"], ["revoke", "a"]])
def test_reading_creates_no_database(local, tmp_path, command):
    refused(local(*command), "there is no database", "modelway token create")
    assert list(Path(tmp_path).iterdir()) == []


def test_a_newer_database_is_refused(on, records_url):
    on("create", "--name", "a")
    database = open_database(records_url)
    database.write(lambda c: c.exec_driver_sql("UPDATE alembic_version SET version_num = 'r9'"))
    database.close()
    refused(on("create", "--name", "b"), "made by a newer Modelway", "run that version")


def test_a_file_without_write_permission_is_reported(local, tmp_path, monkeypatch):
    local("create", "--name", "a")
    for file in tmp_path.glob("x.db*"):
        file.write_bytes(b"not a database at all" * 100)
    refused(local("revoke", "a"), "the file is no SQLite database")


@pytest.mark.parametrize(
    "command", ["new", "create", "list", "show", "rotate", "revoke", "import", "export"]
)
def test_every_command_has_help(command):
    result = token(command, "--help")
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 6
    assert re.search(rf"^  {command} +[A-Z]", token("--help").output, re.MULTILINE)
