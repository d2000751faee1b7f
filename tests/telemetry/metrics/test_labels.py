"""Labels are names of the config, whatever a caller sends."""

from __future__ import annotations

from engine import dialects
from engine.telemetry.metrics.labels import OTHER, NameRoom, SeriesLabels, SeriesRoom, labels_of
from tests.support.exchanges import new_exchange

OPENAI = dialects.get("openai")


def test_labels_are_the_entries_of_the_config_not_the_callers_words():
    exchange = new_exchange("POST", "/", "", {}, "req_1", operation="openai.createChatCompletion")
    exchange.model.name = "whatever-a-caller-says"
    record = exchange.record
    record.requested_entry, record.served_entry, record.upstream = "gpt-*", "gpt-4o", "azure"
    labels = labels_of(exchange, "USD")
    assert (labels.model, labels.served_model, labels.upstream) == ("gpt-*", "gpt-4o", "azure")
    assert labels.gen_ai[2] == "gpt-*"
    assert not any("whatever" in str(label) for label in labels)


def test_a_request_without_a_model_has_no_provider():
    labels = labels_of(new_exchange("GET", "/", "", {}, "req_1"), "USD")
    assert (labels.model, labels.served_model, labels.upstream) == ("", "", "")
    assert labels.gen_ai[1:] == ("", "")


def _labels(operation: str, model: str = "m", upstream: str = "u") -> SeriesLabels:
    return SeriesLabels((operation, model, upstream), model, "USD", ("chat", "openai", model))


def test_the_first_combinations_have_room_and_keep_it(caplog):
    room = SeriesRoom(2, [])
    assert [room.take(_labels(name)) for name in ("a", "b", "c", "a", "d", "b")] == [
        *(True, True, False),
        *(True, False, True),
    ]
    assert caplog.text.count("more than 2 combinations") == 1


def test_refused_requests_take_no_room_from_those_that_reach_an_upstream():
    room = SeriesRoom(1, [])
    assert room.take(_labels("a", "", ""))
    assert not room.take(_labels("b", "", ""))
    assert room.take(_labels("b"))


def test_combinations_of_an_earlier_worker_keep_their_room():
    room = SeriesRoom(1, [("a", "m", "u")])
    assert room.take(_labels("a"))
    assert not room.take(_labels("b"))


def test_the_labels_of_others_say_nothing_that_was_not_there():
    others = _labels("a").others(OPENAI)
    assert (others.operation, others.model, others.served_model, others.upstream) == (OTHER,) * 4
    assert others.gen_ai == ("chat", "openai", OTHER)
    refused = _labels("a", "", "").others(OPENAI)
    assert (refused.operation, refused.model, refused.upstream) == (OTHER, "", "")


def test_names_of_the_config_are_not_among_the_labels_of_others():
    labels = SeriesLabels(("a.make", "m", "up1"), "m", "USD", ("make", "up1", "m"))
    assert labels.others(dialects.get("plain")).gen_ai == (OTHER, OTHER, OTHER)


def test_the_provider_of_others_stays_also_if_an_upstream_has_its_name():
    labels = SeriesLabels(("a.x", "m", "openai"), "m", "USD", ("chat", "openai", "m"))
    assert labels.others(OPENAI).gen_ai == ("chat", "openai", OTHER)


def test_names_have_room_as_long_as_there_is_some_and_for_ever():
    room = NameRoom(2, ["of an earlier worker"])
    names = ["new", "third", "new", "of an earlier worker", "third"]
    assert [room.takes(name) for name in names] == [True, False, True, True, False]
