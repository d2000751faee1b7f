"""What the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.compare import machine
from benchmarks.compare.report import Results, report
from benchmarks.compare.system import System


@pytest.fixture
def results(monkeypatch) -> Results:
    monkeypatch.setattr(machine, "machine", lambda: "a processor, 2 cores, Linux 6, CPython 3.11")
    monkeypatch.setattr(machine, "tools", lambda: "wrk 4")
    results = Results()
    for name, peer in (("modelway", False), ("nginx", False), ("TensorZero", True)):
        results.systems.append(System(name, f"{name} 1", ["true"], Path("."), 80, peer=peer))
    results.rounds = {
        "nginx": [{"start_warm": 0.01}] * 2,
        "modelway": [{"start_warm": 1.0, "memory": 50.0}] * 2,
        "TensorZero": [{"start_warm": 0.2, "memory": 90.0}] * 2,
    }
    return results


def test_the_machine_is_named_and_ratios_come_first(results):
    text = report(results, 5.0, 500)
    assert "on a processor, 2 cores, Linux 6, CPython 3.11: 2 alternating rounds" in text
    assert 0 < text.index("| times ours") < text.index("| start to first answer, warm (s) |")


def test_the_page_says_where_a_peer_is_better(results):
    lines = [line for line in report(results, 5.0, 500).splitlines() if "is better" in line]
    assert lines == [
        "- **TensorZero is better** in every round at: start to first answer, warm (0.20)."
    ]


def test_the_page_says_what_is_not_there_and_why(results):
    results.left_out["LiteLLM"] = "it cannot be installed"
    results.without.append("nginx over TLS: no certificate")
    text = report(results, 5.0, 500)
    assert "- LiteLLM is left out: it cannot be installed" in text
    assert "- No figures for nginx over TLS: no certificate" in text


def test_ours_alone_has_no_ratios(results):
    results.rounds = {"modelway": [{"memory": 50.0}]}
    assert "times ours" not in report(results, 5.0, 500)
