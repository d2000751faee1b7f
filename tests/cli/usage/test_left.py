"""`modelway usage --left`: every limit, those near their end first."""

from __future__ import annotations

import csv
import io
import json

import pytest
from click.testing import CliRunner

from engine import cli
from engine.app.services.limit_counters import counters_of
from engine.app.services.telemetry import WorkerTelemetry
from engine.plan.assembly.make_plan import make_plan
from engine.values.calendar import Calendar
from engine.values.caller import digest
from engine.values.counters import Limit

DOCUMENT = """
openapi: 3.1.0
info: {title: t, version: "1"}
paths: {/x: {get: {operationId: x, responses: {default: {description: d}}}}}
"""
ANN = digest("mw-ann-" + "q7" * 30)
CONFIG = f"""
version: 1
specs: {{api: {{document: api.yaml}}}}
upstreams: {{main: {{url: "https://main.test"}}}}
stores: {{records: "sqlite:///usage.db"}}
policies:
  - rate_limit: {{requests: 100, per: 1h, by: all}}
  - rate_limit: {{requests: 50, per: 1h, by: token}}
routes: [{{operation: api.x, to: [{{upstream: main}}]}}]
teams: {{search: {{budget: 20 USD/month}}}}
tokens:
  - {{name: ann, team: search, rate: 10/1h, concurrency: 3, sha256: {ANN}}}
  - {{name: ben, sha256: {digest("mw-ben-" + "x9" * 30)}}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A gateway in which something was used of three limits."""
    monkeypatch.chdir(tmp_path)
    for name in ("MODELWAY_CONFIG", "MODELWAY_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "gateway.yaml").write_text(CONFIG)
    (tmp_path / "api.yaml").write_text(DOCUMENT)
    plan = make_plan(tmp_path / "gateway.yaml", {}).plan
    rule = plan.routes[0].guards.rules[0]
    counters = counters_of(plan.config, WorkerTelemetry(background=False))
    counters.take((Limit("team/spend/month|search", 20 * 10**9, Calendar("month")),), (18 * 10**9,))
    counters.take((Limit("token/requests/3600|ann", 10, 3600.0),), (4,))
    counters.take((Limit(f"{rule.name}|", 100, 3600.0),), (7,))
    counters.close()
    return tmp_path


def left(*args):
    return CliRunner().invoke(cli.main, ("usage", "--left", *args))


def test_limits_near_their_end_come_first(folder):
    result = left()
    assert result.exit_code == 0, result.output
    cells = [line.split("  ")[0] for line in result.stdout.splitlines()]
    assert cells == ["OF", "team 'search'", "token 'ann'", "all callers together", "token 'ann'"]
    assert "20 USD per month" in result.stdout.splitlines()[1]
    assert "90%" in result.stdout.splitlines()[1]


def test_one_token_has_its_own_and_its_teams(folder):
    rows = json.loads(left("--token", "ann", "--format", "json").stdout)["limits"]
    assert [(row["kind"], *row["by"].values(), row["left"]) for row in rows] == [
        ("budget", "search", "2.00"),
        ("requests", "ann", 6),
        ("concurrency", "ann", 3),
    ]


def test_tokens_of_the_database_are_listed(folder):
    runner = CliRunner()
    created = runner.invoke(cli.main, ("token", "create", "--name", "cid", "--rate", "5/1h"))
    assert created.exit_code == 0, created.output
    rows = [*csv.DictReader(io.StringIO(left("--format", "csv").stdout))]
    assert [(row["of"], row["amount"], row["used"]) for row in rows][-1] == (
        "token 'cid'",
        "5",
        "0",
    )


def test_an_unknown_token_is_an_error(folder):
    result = left("--token", "zoe")
    assert (result.exit_code, result.output) == (1, "Error: there is no token 'zoe'\n")


def test_a_gateway_without_limits_says_so(folder):
    route = CONFIG.partition("routes:")[2].partition("\n")[0]
    text = CONFIG.partition("policies:")[0] + f"routes:{route}\n"
    (folder / "gateway.yaml").write_text(text)
    assert "no token, team or policy has a limit" in left().output
