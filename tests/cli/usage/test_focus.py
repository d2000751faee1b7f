"""`modelway usage --format focus`: the columns of FOCUS 1.2."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest
from click.testing import CliRunner

from engine import cli
from engine.cli.usage.focus import COLUMNS
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry

USD = {"currency": "USD"}
DAY_1, DAY_2 = 1_801_440_000.0, 1_801_526_400.0  # 2027-02-01, 2027-02-02
OF_ANN = {"token": "ann", "team": "search", "model_served": "m-1", "upstream": "main"}


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """The lines of a report of three days."""
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "MODELWAY_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "gateway.yaml").write_text("version: 1\nstores: {records: 'sqlite:///usage.db'}\n")
    database = open_database(f"sqlite:///{tmp_path}/usage.db")
    upgrade(database)
    rows = [
        Entry(
            "1",
            DAY_1,
            **OF_ANN,
            status=200,
            input=5,
            output=2,
            cost=1_500_000_001,
            currency="USD",
            margin=500_000_000,
        ),
        Entry("2", DAY_1 + 9, **OF_ANN, status=429, outcome="refused", currency="USD"),
        Entry("3", DAY_2 - 1, **OF_ANN, status=200, cost=5, currency="USD", tags='{"a":"x"}'),
        Entry("4", DAY_2, "=cmd()", status=200, model_served="m\r=2", cost=7, currency="EUR"),
        Entry("5", DAY_2 + 86_400, "late", status=200, cost=10**9, currency="USD"),
    ]
    UsageTable(database).insert(rows)
    database.close()
    options = ("--since", "2027-02-01", "--until", "2027-02-02", "--format", "focus")
    result = CliRunner().invoke(cli.main, ("usage", *options))
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == ",".join(COLUMNS)
    return [*csv.DictReader(io.StringIO(result.stdout))]


def test_a_line_is_a_day_of_a_token_at_a_model(lines):
    keys = ("ChargePeriodStart", "ResourceId", "Tags", "BilledCost", "BillingCurrency")
    assert sorted(tuple(line[key] for key in keys) for line in lines) == [
        ("2027-02-01T00:00:00Z", "ann", '{"a":"x"}', "0.000000005", "USD"),
        ("2027-02-01T00:00:00Z", "ann", "{}", "1.500000001", "USD"),
        ("2027-02-02T00:00:00Z", "'=cmd()", "{}", "0.000000007", "EUR"),
    ]


def test_a_line_end_in_a_name_begins_no_line(lines):
    (line,) = [line for line in lines if line["BillingCurrency"] == "EUR"]
    assert (line["ServiceName"], line["ChargeDescription"]) == ("m␍=2", "Requests for m␍=2")


def test_the_fields_of_a_line(lines):
    (line,) = [line for line in lines if line["ConsumedQuantity"] == "7"]
    assert line["BillingPeriodStart"] == "2027-02-01T00:00:00Z"
    assert line["BillingPeriodEnd"] == "2027-03-01T00:00:00Z"
    assert line["ChargePeriodEnd"] == "2027-02-02T00:00:00Z"
    assert (line["SubAccountId"], line["ServiceName"], line["ProviderName"]) == (
        *("search", "m-1", "main"),
    )
    assert (line["x_Requests"], line["x_FailedRequests"], line["x_InputTokens"]) == ("2", "1", "5")
    costs = {line[key] for key in ("BilledCost", "EffectiveCost", "ContractedCost")}
    assert {Decimal(cost) for cost in costs} == {Decimal("1.500000001")}
    assert Decimal(line["ListCost"]) == Decimal("1.000000001"), "without the margin of the team"


def test_what_is_left_is_no_cost():
    result = CliRunner().invoke(cli.main, ("usage", "--left", "--format", "focus"))
    assert result.exit_code == 2
