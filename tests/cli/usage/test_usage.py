"""`modelway usage`: what it adds up, for people and programs, and what it says to bad input."""

import csv
import io
import json
import time
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from engine import cli
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Journal
from engine.stores.ledger_entry import Entry, decode, encode

CONFIG = "version: 1\nstores: {records: sqlite:///usage.db}\n"
RARE = (
    *("reasoning", "cache_write", "audio_input", "audio_output", "image_input", "image_output"),
    *("images", "characters"),
)
HOUR, DAY = 3600.0, 86_400.0


def run(*args):
    return CliRunner().invoke(cli.main, ("usage", *args))


def insert(folder, *entries):
    database = open_database(f"sqlite:///{folder}/usage.db")
    upgrade(database)
    UsageTable(database).insert([decode(encode(entry)) for entry in entries])
    database.close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A gateway of two tokens, three models and two currencies, in the last ten days."""
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "MODELWAY_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "gateway.yaml").write_text(CONFIG)
    now = time.time()
    gpt = {"operation": "openai.createChatCompletion", "model_asked": "gpt-4o", "status": 200}
    insert(
        tmp_path,
        Entry("1", now - HOUR, "shop", **gpt, input=1200, output=3, cost=1_500_000_001,
              currency="USD", first_byte=0.5, cached=100),
        Entry("2", now - HOUR, "shop", **gpt, input=34, cost=2_000_000_000, currency="USD",
              first_byte=1.0),
        Entry("3", now - 2 * HOUR, "lab", status=429, outcome="refused", currency="USD"),
        Entry("4", now - 2 * HOUR, "lab", **gpt, cost=7, currency="EUR"),
        Entry("5", now - 2 * HOUR, "lab", **gpt, cost=10**9, currency="USD"),
        Entry("6", now - 9 * DAY, "old", model_asked="gpt-3", status=200),
    )  # fmt: skip
    return tmp_path


def lines(result):
    """The lines of a table, its columns one space apart."""
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.stdout.splitlines()]


AGENT = {"client": "claude", "client_version": "2.1.332", "status": 200, "currency": "USD"}


def test_sessions_have_their_owner_their_times_and_what_they_cost(folder):
    start = datetime(2026, 11, 1, 12, 30, tzinfo=UTC).timestamp()
    insert(
        folder,
        Entry("s1", start, "shop", session="s", **AGENT, input=100, cached=95, cost=10**9),
        Entry("s2", start + 3725, "shop", session="s", **AGENT, input=100, cached=95, duration=5.0),
        Entry("s3", start, "lab", session="\x1b[2J", **AGENT),
    )
    options = ("--since", "2026-11-01", "--until", "2026-11-01", "--time-zone", "Europe/Vienna")
    assert lines(run("--by", "session", *options)) == [
        "SESSION TOKEN CLIENT START SPAN REQUESTS FAILED INPUT OUTPUT CACHED COST FIRST BYTE",
        "s shop claude 2026-11-01 13:30 1:02:10 2 0 200 0 190 (95%) 1.00 USD",
        "\u241b[2J lab claude 2026-11-01 13:30 0:00:00 1 0 0 0 0",
        "total 3 0 200 0 190 (95%) 1.00 USD",
    ]
    assert lines(run("--by", "client_version", *options))[1].startswith("claude/2.1.332 3 0 200")
    (document, _) = json.loads(run("--by", "session", "--json", *options).stdout)["totals"]
    assert (document["session"], document["token"], document["client"]) == ("s", "shop", "claude")
    assert (document["first"], document["last"]) == (start, start + 3730)
    rows = [*csv.DictReader(io.StringIO(run("--by", "session", "--format=csv", *options).stdout))]
    assert (rows[0]["token"], rows[0]["last"]) == ("shop", f"{start + 3730:.3f}")
    assert lines(run("--by", "model", "--session", "s", *options))[1].startswith("- 2 0 200")
    assert lines(run("--by", "via", *options))[1].startswith("- 3 0 200")
    assert run("--via", "mcp", *options).stderr == "no requests of via 'mcp' in this period\n"
    assert run("--session", "none", *options).stderr == (
        "no requests of session 'none' in this period\n"
    )


def test_a_spreadsheet_computes_no_name_that_a_caller_chose(folder):
    evil = '=HYPERLINK("http://evil.example")'
    insert(folder, Entry("evil", time.time() - HOUR, "shop", session=evil, model_asked=evil))
    for by in ("session", "model"):
        keys = {row[0] for row in csv.reader(io.StringIO(run("--by", by, "--format=csv").stdout))}
        assert f"'{evil}" in keys
        assert evil not in keys


def test_further_sessions_are_one_line(folder):
    insert(folder, *(Entry(f"n{n}", time.time() - HOUR, session=f"s{n}") for n in range(5)))
    keys = [line.split()[0] for line in lines(run("--by", "session", "--most", "2"))]
    assert keys == ["SESSION", "-", "-", "(others)", "total"]


def test_the_table_has_a_total(folder):
    assert lines(run()) == [
        "TOKEN REQUESTS FAILED INPUT OUTPUT CACHED COST FIRST BYTE",
        "lab 3 1 0 0 0 0.000000007 EUR + 1.00 USD",
        "shop 2 0 1,234 3 100 (8%) 3.500000001 USD 0.750 s",
        "total 5 1 1,234 3 100 (8%) 0.000000007 EUR + 4.500000001 USD 0.750 s",
    ]


def test_a_single_row_has_no_total(folder):
    assert [row.split()[0] for row in lines(run("--token", "shop"))] == ["TOKEN", "shop"]


def test_json_is_exact(folder):
    result = json.loads(run("--format", "json").stdout)
    assert result["totals"][1] == {
        "token": "shop",
        "requests": 2,
        "failed": 0,
        "input": 1234,
        "output": 3,
        "cached": 100,
        **dict.fromkeys(RARE, 0),
        "cost": {"USD": "3.500000001"},
        "vendor_cost": {"USD": "3.500000001"},
        "first_byte": 0.75,
        "cached_share": 100 / 1234,
    }
    assert result["totals"][0]["cached_share"] is None, "no input"
    assert result["total"]["cost"] == {"EUR": "0.000000007", "USD": "4.500000001"}
    assert result["total"]["requests"] == 5
    assert result["not_yet_in_the_database"] == 0
    assert result["until"] - result["since"] == pytest.approx(7 * DAY)


def test_csv_and_json_have_their_columns_in_this_order(folder):
    numbers = ["requests", "failed", "input", "output", "cached"]
    (titles, *_) = csv.reader(io.StringIO(run("--format", "csv").stdout))
    assert titles == ["token", *numbers, "cost", "currency", "first_byte", *RARE, "vendor_cost"]
    total = json.loads(run("--format", "json").stdout)["totals"][0]
    costs = ("cost", "vendor_cost")
    assert list(total) == ["token", *numbers, *RARE, *costs, "first_byte", "cached_share"]


def test_csv_sums_up_to_the_total(folder):
    rows = list(csv.DictReader(io.StringIO(run("--format", "csv").stdout)))
    assert [(r["token"], r["requests"], r["cost"], r["currency"]) for r in rows] == [
        ("lab", "3", "0.000000007", "EUR"),
        ("lab", "0", "1.00", "USD"),
        ("shop", "2", "3.500000001", "USD"),
    ]
    assert [r["first_byte"] for r in rows] == ["", "", "0.750000"]


def test_usage_is_grouped_by_each_kind(folder):
    def keys(by, *more):
        result = json.loads(run("--format", "json", "--by", by, *more).stdout)
        return [total[by] for total in result["totals"]]

    assert keys("model") == ["gpt-4o", ""]
    assert keys("operation") == ["openai.createChatCompletion", ""]
    assert keys("status") == ["200", "429"]
    assert keys("price") == [""]
    assert keys("model", "--since", "30d") == ["gpt-4o", "", "gpt-3"]
    assert keys("token", "--since", "30d", "--until", "8d") == ["old"]
    assert keys("token", "--model", "gpt-3", "--since", "2000-01-01") == ["old"]
    today = time.strftime("%Y-%m-%d", time.gmtime(time.time() - HOUR))
    assert today in keys("day", "--since", today, "--until", today)
    assert keys("day", "--since", "2001-01-01T10:00", "--until", "2001-01-01T10:00:01+00:00") == []


def test_days_and_months_are_those_of_a_time_zone(folder, monkeypatch):
    """Half past eleven in the evening of the last day of October, in UTC."""
    last = datetime(2026, 10, 31, 23, 30, tzinfo=UTC).timestamp()
    monkeypatch.setattr("time.time", lambda: last + 60)
    monkeypatch.delenv("MODELWAY_DATABASE", raising=False)
    insert(folder, Entry("x", last, "shop"), Entry("y", last - HOUR, "shop"))

    def days(*options):
        arguments = ("--by", "day", "--format", "json", "--since", "month", *options)
        result = json.loads(run(*arguments).stdout)
        return {total["day"]: total["requests"] for total in result["totals"]}

    assert days() == {"2026-10-31": 2}
    assert days("--time-zone", "Europe/Vienna") == {"2026-11-01": 1}
    vienna = ("--time-zone", "Europe/Vienna", "--since", "2026-10-31")
    assert days(*vienna) == {"2026-10-31": 1, "2026-11-01": 1}
    assert days(*vienna, "--until", "2026-10-31") == {"2026-10-31": 1}


def test_a_report_says_that_older_rows_were_deleted(folder):
    assert "deleted" not in run().stderr
    assert "deleted" not in run("--since", "1960-01-01").stderr
    database = open_database(f"sqlite:///{folder}/usage.db")
    UsageTable(database).delete_before(datetime(2026, 2, 3, 4, tzinfo=UTC).timestamp(), 1000)
    database.close()
    note = "rows from before 2026-02-03 05:00+01:00 were deleted (stores.retention)"
    assert note in run("--since", "2026-01-01", "--time-zone", "Europe/Vienna").stderr
    assert note not in run("--since", "2026-03-01", "--time-zone", "Europe/Vienna").stderr


def test_rare_kinds_are_shown_where_there_are_some(folder):
    assert "REASONING" not in run().stdout
    entry = Entry("k", time.time() - HOUR, "shop", reasoning=7, cache_write=12_345)
    insert(folder, entry)
    header, *rows = run("--token", "shop").stdout.splitlines()
    assert header.split("  ")[-1].strip() == "FIRST BYTE"
    assert "CACHED  REASONING  CACHE WRITE" in header
    assert "IMAGE" not in header
    assert "12,345" in rows[0]
    (row,) = csv.DictReader(io.StringIO(run("--format", "csv", "--token", "shop").stdout))
    assert (row["reasoning"], row["cache_write"], row["audio_input"]) == ("7", "12345", "0")


def test_an_empty_selection_is_explained(folder):
    assert run("--since", "1m").stderr == "no requests in this period\n"
    result = run("--token", "shpo")
    assert result.stderr == "no requests of token 'shpo' in this period: did you mean 'shop'?\n"
    assert (result.exit_code, result.stdout) == (0, "")
    assert "did you mean 'gpt-4o'?" in run("--model", "gpt4o").stderr
    assert run("--model", "gpt-4o", "--since", "1m").stderr.startswith("no requests of model")


def test_unshipped_rows_are_mentioned(folder):
    journal = Journal(folder / "var" / "journal")
    for number in ("1", "2", "new", "newer"):  # the first two are in the database already
        journal.append(Entry(number, time.time(), "shop"))
    result = run()
    assert result.stderr == f"2 rows in {folder}/var/journal not yet in the database\n"
    assert json.loads(run("--format", "json").stdout)["not_yet_in_the_database"] == 2
    insert(folder, Entry("new", 1.0))
    assert run().stderr.startswith("1 row in ")
    insert(folder, Entry("newer", 1.0))
    assert run().stderr == ""


BAD = [
    (["--since", "soon"], "'soon' is neither a duration like 24h or 7d nor a day or time"),
    (["--since", "7"], "'7' is neither a duration"),
    (["--since", "2027-02-30"], "'2027-02-30' is neither a duration"),
    (["--until", ""], "'' is neither a duration"),
    (["--time-zone", "Europe/Wien"], "'Europe/Wien' is not a time zone like Europe/Vienna"),
    (["--since", "1d", "--until", "2d"], "'1d' is not before 2d"),
    (["--since", "9999-01-01"], "'9999-01-01' is not before now"),
    (["--by", "week"], "'week' is neither a grouping nor one of"),
    (["--format", "xml"], "'xml' is not one of"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_invalid_options_are_explained(folder, arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_missing_database_is_explained(folder):
    (folder / "gateway.yaml").write_text("version: 1\n")
    result = run()
    assert result.exit_code == 1
    assert "stores: {records: sqlite:///var/modelway.db}" in result.stderr


def test_an_unreachable_database_is_reported(folder):
    result = run("--database", "postgresql+psycopg://me:geheim@127.0.0.1:1/none")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: postgresql+psycopg://me:***@127.0.0.1:1/none")
    assert "geheim" not in result.output


def test_a_database_alone_needs_no_config(folder):
    (folder / "gateway.yaml").unlink()
    result = run("--database", f"sqlite:///{folder}/usage.db", "--by", "token", "--format", "json")
    assert [total["token"] for total in json.loads(result.stdout)["totals"]] == ["lab", "shop"]


def test_tags_of_the_config_are_groupings(folder):
    (folder / "gateway.yaml").write_text(
        CONFIG + "tags: {customer: '$request.body#/metadata/customer'}\n"
    )
    now = time.time()
    rows = [('{"customer":"acme"}', 2), ('{"customer":"acme","project":"x"}', 3), ("", 4)]
    insert(
        folder,
        *(
            Entry(f"t{at}", now - 60, "tagged", status=200, input=count, tags=tags)
            for at, (tags, count) in enumerate(rows)
        ),
    )
    result = run("--by", "customer", "--since", "1h", "--token", "tagged", "--format", "json")
    totals = {row["customer"]: row["input"] for row in json.loads(result.stdout)["totals"]}
    assert totals == {"acme": 5, "": 4}
    wrong = run("--by", "custmer")
    assert wrong.exit_code == 2
    assert "did you mean 'customer'?" in wrong.output


def test_the_vendors_cost_is_shown_beside_that_of_a_team_with_prices(folder):
    row = Entry("m", time.time() - HOUR, "t", team="lab", currency="USD", cost=15 * 10**8)
    insert(folder, row._replace(margin=25 * 10**7))
    lab = lines(run("--by", "team"))[1:-1]
    assert lines(run("--by", "team"))[0].endswith("COST VENDOR COST FIRST BYTE")
    assert "lab 1 0 0 0 0 1.50 USD 1.25 USD" in lab
    rows = csv.DictReader(io.StringIO(run("--by", "team", "--format", "csv").stdout))
    assert [(r["cost"], r["vendor_cost"]) for r in rows if r["team"] == "lab"] == [("1.50", "1.25")]
    totals = json.loads(run("--by", "team", "--format", "json").stdout)["totals"]
    assert [t["vendor_cost"] for t in totals if t["team"] == "lab"] == [{"USD": "1.25"}]
