"""The targets in the report of a rehearsal: their order, strategy and bounds."""

import pytest
import yaml

from engine.offline.rehearsal.report_text import text
from tests.support.rehearsing import CONFIG, explained_chat, patched, planned


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("project"))


def test_targets_are_in_the_order_of_attempts(result):
    document = [
        (t["upstream"], t["model"], t["weight"], t["fallback"])
        for t in explained_chat(result)["targets"]
    ]
    assert document == [
        ("main", "real-big", 3.0, ""),
        ("spare", "big", 1.0, ""),
        ("spare", "real-small", 1.0, "small"),
    ]


def test_targets_name_the_strategy_of_their_entry(tmp_path):
    patch = {"models": {"big": {"choose": "least_busy"}}}
    project = planned(tmp_path, patched(CONFIG, patch))
    document = explained_chat(project)
    assert [t["choose"] for t in document["targets"]] == ["least_busy", "least_busy", "weighted"]
    assert ", chosen by least_busy" in text(document)


def test_a_target_names_a_bound_of_its_own(tmp_path):
    config = yaml.safe_load(CONFIG)
    config["models"]["big"]["to"][1]["max_in_flight"] = 3
    document = explained_chat(planned(tmp_path, yaml.safe_dump(config, sort_keys=False)))
    assert [t["max_in_flight"] for t in document["targets"]] == [None, 3, None]
    assert "spare as big, weight 1 of 4, at most 3 at one time" in text(document)
