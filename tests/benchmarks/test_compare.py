"""The comparison's own arithmetic, and what it reads and writes."""

from __future__ import annotations

import pytest

from benchmarks.compare import page
from benchmarks.compare.figures import Figure, Ratio, median, ratio, scaling
from benchmarks.compare.load import Load, LoadFailed, parse
from benchmarks.compare.proc import TICKS, Stat, below, parse_memory, parse_stat, seconds
from benchmarks.compare.streaming import between
from benchmarks.compare.system import Endpoint, System, Upstream
from benchmarks.compare.table import table, text_of, times
from tests.support import paths
from tests.support.paths import ROOT

CASES = paths.CASES / "benchmarks"


def case(name: str) -> str:
    return (CASES / name).read_text()


def test_output_of_wrk_is_parsed():
    load = parse(case("wrk.txt"))
    assert load == Load(9168, 5.01, 0.00865, 0.01231)
    assert round(load.rate) == 1830


def test_a_load_that_was_refused_is_no_measurement():
    with pytest.raises(LoadFailed, match="of 9168 requests 12 refused, 1 broken or late"):
        parse(case("wrk-refused.txt"))
    with pytest.raises(ValueError, match="not what wrk prints"):
        parse("wrk: cannot open script")


def test_cpu_of_a_process_holds_that_of_its_ended_children():
    assert parse_stat(case("stat.txt")) == Stat(parent=4700, ticks=512 + 88 + 7 + 3)


def test_all_below_a_process_are_found():
    stats = {1: Stat(0, 5), 2: Stat(1, 7), 3: Stat(2, 11), 4: Stat(1, 13), 5: Stat(9, 17)}
    assert sorted(below(stats, 1)) == [1, 2, 3, 4]
    assert below(stats, 5) == [5]
    assert seconds([Stat(0, TICKS), Stat(1, TICKS)]) == 2.0


def test_memory_is_read_in_bytes():
    text = "00400000-7ffe [rollup]\nRss:  2048 kB\nPss:  1024 kB\nPss_Dirty: 4 kB\n"
    assert (parse_memory(text), parse_memory(text, "Rss")) == (1024 * 1024, 2048 * 1024)
    assert (
        0 < parse_memory(case("smaps_rollup.txt")) <= parse_memory(case("smaps_rollup.txt"), "Rss")
    )
    with pytest.raises(ValueError, match="no Pss"):
        parse_memory("")


def test_ratios_are_made_round_by_round():
    other_rounds = [{"cpu": 900.0}, {"cpu": 1000.0}, {"cpu": 1200.0}]
    own_rounds = [{"cpu": 100.0}, {"cpu": 100.0}, {"cpu": 200.0}]
    assert ratio(other_rounds, own_rounds, "cpu") == Ratio(9.0, 6.0, 10.0)
    assert median(other_rounds, "cpu") == 1000.0


def test_a_figure_that_is_not_there_has_no_ratio():
    assert ratio([{}], [{"cpu": 1.0}], "cpu") is None
    assert ratio([{"cpu": 1.0}], [{"cpu": 0.0}], "cpu") is None
    assert median([{}], "cpu") is None


def test_what_others_took_is_no_fault_of_a_second_worker():
    one = {"rate": 1000.0, "others": 0.3, "busy": 1.0}
    assert scaling(one, {"rate": 1400.0, "others": 0.3, "busy": 1.0}) == pytest.approx(2.0)
    # A worker that had its core for half of the time would have done twice as much.
    slowed = {"rate": 500.0, "others": 0.6, "busy": 0.5}
    assert scaling(slowed, {"rate": 1800.0, "others": 0.0, "busy": 1.0}) == pytest.approx(1.8)


def test_events_between_two_looks_are_interpolated():
    samples = [(10.0, 100), (10.1, 200), (10.2, 400)]
    assert between(samples, 10.05, 10.2) == pytest.approx(250)
    assert between(samples, 10.0, 10.15) == pytest.approx(200)
    with pytest.raises(ValueError, match="not seen"):
        between(samples, 9.0, 10.1)
    with pytest.raises(ValueError, match="not seen"):
        between(samples, 10.0, 10.3)


@pytest.mark.parametrize(
    ("ratios", "says"),
    [
        (None, "–"),
        (Ratio(36.06, 34.94, 137.2), "36.1 (34.9 to 137)"),
        (Ratio(0.064, 0.06, 0.071), "0.06 (0.06 to 0.07)"),
    ],
)
def test_a_ratio_shows_its_spread(ratios, says):
    assert times(ratios) == says


def test_a_figure_is_shown_in_its_unit():
    assert text_of(Figure("x", "CPU", "us", 1e6, 1), 0.0012345) == "1,234.5"
    assert text_of(Figure("x", "CPU", "us"), None) == "–"


def test_the_table_is_as_the_case_says():
    results = {
        "modelway": [{"cpu_16": 0.0003, "per_core": 3333.3, "event_paced": 25e-6}],
        "nginx": [{"cpu_16": 0.0000171, "per_core": 58_480.0, "event_paced": 15e-6}],
        "LiteLLM": [{"cpu_16": 0.0107, "per_core": 93.5}],
    }
    assert table(results, "modelway") + "\n" == case("table.md")


def test_a_page_keeps_what_stands_around_the_markers():
    text = f"# Performance\n\n{page.BEGIN}\nold\n{page.END}\n\nMethod\n"
    result = page.replaced(text, "new\n")
    assert result == f"# Performance\n\n{page.BEGIN}\n\nnew\n\n{page.END}\n\nMethod\n"
    assert page.replaced(result, "new") == result
    for broken in ("# no markers", f"{page.END}\n{page.BEGIN}"):
        with pytest.raises(ValueError, match="needs the lines"):
            page.replaced(broken, "new")


def test_the_page_can_be_written():
    shipped = ROOT / "docs" / "explanation" / "performance.md"
    assert "once more" in page.replaced(shipped.read_text(), "once more")


def test_a_system_may_choose_its_port_by_itself(tmp_path):
    system = System("x", "x 1", ["x"], tmp_path, tmp_path / "port", path="/chats", model="m")
    with pytest.raises(OSError, match="port"):
        _ = system.endpoint
    (tmp_path / "port").write_text("8080")
    assert system.endpoint == Endpoint(8080, ("none",), "/chats", "m")


def test_an_upstream_with_an_authority_is_asked_over_tls(tmp_path):
    assert Upstream(80).origin == "http://127.0.0.1:80"
    assert Upstream(443, tmp_path / "ca.pem").origin == "https://127.0.0.1:443"
