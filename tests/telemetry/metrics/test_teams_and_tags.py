"""Requests, tokens and money by team, with a bounded number of names."""

from __future__ import annotations

from engine.exchange.outcome import Outcome
from engine.telemetry.metrics.worker_metrics import WorkerMetrics
from engine.values.caller import Caller
from engine.values.quota_sharers import OTHERS
from engine.values.usage import Usage
from tests.support.recording_metrics import finished_exchange, record_all, values


def of_team(team, **changes):
    exchange = finished_exchange(**changes)
    exchange.caller = Caller("ada", team=team)
    return exchange


def test_requests_tokens_and_cost_are_those_of_the_callers_team(metrics):
    refused = of_team("lab", status=429, outcome=Outcome.REFUSED)
    refused.record.usage, refused.record.cost = Usage(), 0
    record_all(metrics, of_team("lab"), of_team("lab"), of_team("ops"), refused)
    assert values(metrics, "modelway_team_requests_total") == {
        ("complete", "lab"): 2.0,
        ("complete", "ops"): 1.0,
        ("refused", "lab"): 1.0,
    }
    assert values(metrics, "modelway_team_tokens_total") == {
        ("lab", "input"): 20.0,
        ("lab", "output"): 10.0,
        ("ops", "input"): 10.0,
        ("ops", "output"): 5.0,
    }
    assert values(metrics, "modelway_team_cost_total") == {("USD", "lab"): 4.0, ("USD", "ops"): 2.0}


def test_what_the_vendor_charges_is_beside_what_the_team_pays(metrics):
    exchange = of_team("lab")
    exchange.record.margin = 500_000_000
    record_all(metrics, exchange, of_team("lab"))
    assert values(metrics, "modelway_team_cost_total") == {("USD", "lab"): 4.0}
    assert values(metrics, "modelway_team_vendor_cost_total") == {("USD", "lab"): 3.5}


def test_callers_without_a_team_are_in_no_series(metrics):
    anonymous = finished_exchange()
    anonymous.caller = None
    record_all(metrics, of_team(""), anonymous)
    assert values(metrics, "modelway_team_requests_total") == {}


def test_teams_beyond_the_room_share_a_series_also_after_a_restart(tmp_path):
    for names in (["a", "b", "c"], ["d", "a"]):
        recorder = WorkerMetrics(tmp_path, "USD", max_series=2)
        record_all(recorder, *map(of_team, names))
        recorder.close()
    recorder = WorkerMetrics(tmp_path, "USD", max_series=2)
    counted = values(recorder, "modelway_team_requests_total")
    recorder.close()
    assert counted == {("complete", "a"): 2.0, ("complete", "b"): 1.0, ("complete", "other"): 2.0}


def of(**tags):
    """An exchange with these tags; the reader of the tests finds them in its environ."""
    exchange = finished_exchange()
    exchange.environ = {"tags": tags}
    return exchange


def counted(folder, *exchanges, max_series=100, name="modelway_tag_requests_total"):
    recorder = WorkerMetrics(
        folder, "USD", max_series=max_series, read_tags=lambda exchange: exchange.environ["tags"]
    )
    record_all(recorder, *exchanges)
    found = values(recorder, name)
    recorder.close()
    return found


def test_requests_are_counted_by_outcome_for_each_value_of_each_tag(tmp_path):
    refused = of(customer="acme")
    refused.record.outcome = Outcome.REFUSED
    both = of(customer="acme", project="p")
    assert counted(tmp_path, both, of(customer="bolt"), refused, of()) == {
        ("complete", "customer", "acme"): 1.0,
        ("complete", "customer", "bolt"): 1.0,
        ("complete", "project", "p"): 1.0,
        ("refused", "customer", "acme"): 1.0,
    }


def test_tokens_and_cost_are_those_of_the_requests(tmp_path):
    exchanges = [of(customer="acme"), of(customer="acme")]
    assert counted(tmp_path, *exchanges, name="modelway_tag_tokens_total") == {
        ("customer", "input", "acme"): 20.0,
        ("customer", "output", "acme"): 10.0,
    }
    cost = counted(tmp_path, name="modelway_tag_cost_total")
    assert cost == {("USD", "customer", "acme"): 4.0}


def test_values_beyond_the_room_of_all_tags_share_one_also_after_a_restart(tmp_path):
    first = [of(customer="a", project="p"), of(customer="b")]
    counted(tmp_path, *first, max_series=2)
    later = [of(customer="c"), of(customer="a"), of(customer=OTHERS)]
    assert counted(tmp_path, *later, max_series=2) == {
        ("complete", "customer", "a"): 2.0,
        ("complete", "customer", "other"): 3.0,
        ("complete", "project", "p"): 1.0,
    }
