"""Definitions of metrics."""

from engine.values.metric import Metric, counter, gauge, histogram, target_label


def test_labels_are_separated_by_spaces():
    assert counter("m", "model  status", "words").labels == ("model", "status")
    assert counter("m", "", "words").labels == ()


def test_gauges_of_workers_are_added_unless_said_otherwise():
    assert gauge("m", "", "words").mode == "livesum"
    assert gauge("m", "", "words", mode="livemax").mode == "livemax"


def test_a_histogram_has_its_buckets():
    metric = histogram("m", "model", "words", (0.1, 1.0))
    assert metric == Metric("m", "histogram", ("model",), "words", (0.1, 1.0))


def test_the_label_of_a_target_has_the_parts_that_there_are():
    parts = [("", ""), ("chat", ""), ("chat", "m"), ("chat", "", "[::1]:80"), ("", "", "a:80")]
    labels = ["", "chat", "chat/m", "chat/[::1]:80", "a:80"]
    assert [target_label(each) for each in parts] == labels
