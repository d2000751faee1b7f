"""The test bed of a fleet: what it counts, and one short fault on ports of loopback."""

from __future__ import annotations

import shutil

import pytest

from tests.support.paths import ROOT
from trials.fleet import __main__ as command
from trials.fleet.bed import Bed, through
from trials.fleet.faults import FAULTS
from trials.fleet.load import Load, Result, most_within, percentile
from trials.fleet.network import NotOnLoopback, partition
from trials.fleet.processes import Kill
from trials.fleet.report import Report


def result(start: float, end: float, status: int = 200, **more: object) -> Result:
    passed = status == 200
    return Result(1, "t", "", start, end, status, complete=passed, **more)  # type: ignore[arg-type]


def test_every_fault_has_a_title_and_states_its_law() -> None:
    assert len(FAULTS) >= 12
    for name, fault in FAULTS.items():
        assert fault.TITLE, name
        assert "Law" in str(fault.__doc__), name


def test_every_fault_is_in_the_table_of_guarantees() -> None:
    page = (ROOT / "docs/explanation/guarantees.md").read_text("utf-8")
    assert [name for name in FAULTS if f"`{name}`" not in page] == []


def test_requests_in_flight_on_a_killed_process_may_be_lost() -> None:
    report = Report()
    report.requests([result(1.0, 2.0), result(2.9, 3.1, 0)], Kill(3.0, 3.05))
    assert report.broken == []
    assert ("lost", "1 of 1 in flight at the kill") in report.lines


def test_a_request_that_is_lost_at_another_time_breaks_the_law() -> None:
    report = Report()
    report.requests([result(3.2, 3.3, 0)], Kill(3.0, 3.05))
    assert report.broken == ["lost"]
    text = "1 of 0 in flight at the kill; 1 at other times: 1 x no response   BROKEN"
    assert ("lost", text) in report.lines


def test_an_answer_to_another_request_breaks_the_law() -> None:
    report = Report()
    report.requests([result(1.0, 2.0, right=False)])
    assert report.broken == ["wrong"]


def test_a_limit_is_judged_by_what_passed_within_a_window() -> None:
    results = [result(time, time + 0.1) for time in (0.0, 4.0, 9.0, 9.95, 10.5)]
    assert most_within(results, 10.0) == 4  # from 4.0; at 0.0 the one of 9.95 ends too late
    report = Report()
    report.limit(results, 10.0, 3, "L")
    assert report.broken


def test_percentile_of_what_passed() -> None:
    results = [result(0.0, n / 100) for n in range(1, 101)] + [result(0.0, 9.0, 503)]
    assert percentile(results, 0.99) == 1.0


@pytest.fixture
def bed(tmp_path):
    bed = Bed(tmp_path, None)
    yield bed
    bed.close()


def test_packets_cannot_be_dropped_on_loopback(bed) -> None:
    first, second = bed.network.node("one"), bed.network.node("other")
    with pytest.raises(NotOnLoopback), partition(bed.network, first, second):
        pass


def test_a_fault_that_needs_namespaces_is_left_out_without_them(tmp_path, capsys) -> None:
    assert command.run("dns_changed", tmp_path, None) == 0
    assert "left out" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("haproxy") is None, reason="haproxy is not installed")
def test_an_instance_is_killed_under_load(bed) -> None:
    bed.start_replicas(2)
    victim, _ = bed.start_gateways(bed.config(server={"workers": 1}), count=2)
    front = bed.start_front(reuse=False)
    report = Report()
    with Load(through(front), callers=4, pause=0.01) as load:
        load.wait_for(20)
        kill = victim.kill()
        load.wait_for(len(load.results) + 20)
    report.requests(load.results, kill)
    assert report.broken == []
    assert {result.instance for result in load.results} >= {"gateway1", "gateway2"}
    assert {result.replica for result in load.results} >= {"replica1", "replica2"}
