"""Faults on request, by the model's name."""

import pytest

from engine.mock.faults import MockFault, apply_before_response, apply_to_stream, fault_of
from engine.values.errors import AbortConnection, GatewayError

EVENTS = [b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize(
    ("model", "fault"),
    [
        ("fault-status-503", MockFault("status", 503)),
        ("fault-status-429-retry-after-2", MockFault("status", 429, "2")),
        ("fault-status-429-retry-after-0.5", MockFault("status", 429, "0.5")),
        ("fault-slow-0.5", MockFault("slow", 0.5)),
        ("fault-close", MockFault("close", None)),
        ("fault-close-after-3", MockFault("close", 3)),
        ("fault-stall-after-3", MockFault("stall", 3)),
        ("fault-error-after-3", MockFault("error", 3)),
        ("fault-error-after-0", MockFault("error", 0)),
        ("fault-garbage", MockFault("garbage", None)),
        ("fault-code-1011", MockFault("code", 0, code=1011)),
        ("fault-code-4000-after-3", MockFault("code", 3, code=4000)),
    ],
)
def test_a_name_asks_for_a_fault(model, fault):
    assert fault_of(model) == fault


@pytest.mark.parametrize(
    "model",
    [
        *("", "gpt-4o", "fault", "fault-", "fault-x", "my-fault-close", "fault-close-after-x"),
        *("fault-code", "fault-code-999", "fault-code-1005", "fault-code-1006", "fault-code-1015"),
    ],
)
def test_any_other_name_asks_for_none(model):
    assert fault_of(model) is None


def nothing(*args):
    pytest.fail(f"called with {args}")


def test_a_status_is_an_error_with_that_status():
    with pytest.raises(GatewayError) as raised:
        apply_before_response(fault_of("fault-status-503"), nothing, nothing)
    assert (raised.value.status, raised.value.headers) == (503, [])


def test_a_status_may_say_when_to_come_back():
    with pytest.raises(GatewayError) as raised:
        apply_before_response(fault_of("fault-status-429-retry-after-2"), nothing, nothing)
    assert raised.value.headers == [("retry-after", "2")]


def test_a_status_that_is_none_is_refused_or_500():
    with pytest.raises(GatewayError) as raised:
        apply_before_response(MockFault("status", None), nothing, nothing)
    assert raised.value.status == 500


def test_a_slow_answer_sleeps_once_and_goes_on():
    slept = []
    apply_before_response(fault_of("fault-slow-0.5"), nothing, slept.append)
    assert slept == [0.5]


def test_a_closed_connection_is_cut():
    with pytest.raises(AbortConnection):
        apply_before_response(fault_of("fault-close"), nothing, nothing)


def test_garbage_is_sent_raw_and_the_connection_cut():
    output = []
    with pytest.raises(AbortConnection):
        apply_before_response(fault_of("fault-garbage"), output.append, nothing)
    assert not b"".join(output).startswith(b"HTTP")


@pytest.mark.parametrize(
    "model", ["fault-close-after-3", "fault-stall-after-3", "fault-error-after-3"]
)
def test_a_fault_in_a_stream_lets_the_answer_begin(model):
    apply_before_response(fault_of(model), nothing, nothing)


def run(model, slept=None):
    output = []
    stream = apply_to_stream(
        fault_of(model), iter(EVENTS), b"error", (slept if slept is not None else []).append
    )
    try:
        output.extend(stream)
    except AbortConnection:
        output.append("cut")
    return output


@pytest.mark.parametrize(
    ("model", "output"),
    [
        ("fault-close-after-2", [b"1", b"2", "cut"]),
        ("fault-error-after-2", [b"1", b"2", b"error"]),
        ("fault-error-after-0", [b"error"]),
        ("fault-slow-1", EVENTS),
        ("fault-code-1011", EVENTS),
    ],
)
def test_a_stream_goes_wrong_after_so_many_events(model, output):
    assert run(model) == output


def test_a_stall_sleeps_after_so_many_events():
    slept = []
    assert run("fault-stall-after-2", slept)[:2] == [b"1", b"2"]
    assert slept
    assert slept[0] > 600


@pytest.mark.parametrize(
    ("model", "last"), [("fault-close-after-4", "cut"), ("fault-error-after-4", b"error")]
)
def test_a_fault_after_the_last_event_happens_too(model, last):
    assert run(model) == [*EVENTS, last]
