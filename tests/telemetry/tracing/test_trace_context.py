"""Trace context is parsed strictly and passed on."""

import re

import pytest

from engine.telemetry.tracing.trace_context import Sampler

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"

never, always = Sampler(0.0), Sampler(1.0)


def headers_of(trace, fields=()):
    return dict(trace.attempt_headers(list(fields)))


def test_a_request_continues_its_callers_trace():
    trace = never.begin(PARENT, None)
    assert (trace.trace_id, trace.parent_id, trace.sampled) == (TRACE, SPAN, True)
    assert re.fullmatch("[0-9a-f]{16}", trace.span_id)
    assert trace.span_id != SPAN


def test_a_trace_that_the_caller_does_not_sample_is_not_sampled():
    assert not always.begin(f"00-{TRACE}-{SPAN}-00", None).sampled


def test_unknown_flags_are_cleared():
    assert never.begin(f"00-{TRACE}-{SPAN}-ff", None).flags == 0x03


@pytest.mark.parametrize(
    "header",
    [
        "",
        "nonsense",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}-0g",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"cc-{TRACE}-{SPAN}-01more",
        f"{PARENT},{PARENT}",
        f"{PARENT}\n",
    ],
)
def test_an_invalid_traceparent_begins_a_new_trace(header):
    trace = always.begin(header, "a=1")
    assert trace.trace_id != TRACE
    assert (trace.parent_id, trace.state) == ("", "")


@pytest.mark.parametrize("more", ["", "-what-the-future-brings"])
def test_a_later_version_is_parsed_as_far_as_possible(more):
    trace = never.begin(f"cc-{TRACE}-{SPAN}-01{more}", None)
    assert trace.trace_id == TRACE
    assert headers_of(trace)["traceparent"].startswith(f"00-{TRACE}-")


def test_each_attempt_has_a_span_id_of_its_own():
    trace = always.begin(None, None)
    first, second = headers_of(trace)["traceparent"], headers_of(trace)["traceparent"]
    spans = [span for span, _ in trace.attempts]
    assert [first, second] == [f"00-{trace.trace_id}-{span}-03" for span in spans]
    assert len({trace.span_id, *spans}) == 3


def test_a_trace_that_is_not_sampled_records_no_attempts():
    trace = never.begin(None, None)
    assert headers_of(trace)["traceparent"] == f"00-{trace.trace_id}-{trace.span_id}-02"
    assert trace.attempts == ()


def test_the_callers_headers_are_replaced():
    trace = never.begin(PARENT, "a=1, b=2")
    headers = trace.attempt_headers(
        [("accept", "*/*"), ("traceparent", PARENT), ("tracestate", "a=1, b=2")]
    )
    assert [name for name, _ in headers] == ["accept", "traceparent", "tracestate"]
    assert dict(headers)["traceparent"] != PARENT


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("a=1", "a=1"),
        ("a=1,  ,b@vendor=x y", "a=1,b@vendor=x y"),
        ("a=1,a=2", ""),
        ("A=1", ""),
        ("a", ""),
        ("a=1=2", ""),
        ("a=\x01", ""),
        ("a=\xe4", ""),
        (",".join(f"k{n}=v" for n in range(32)), ",".join(f"k{n}=v" for n in range(32))),
        (",".join(f"k{n}=v" for n in range(33)), ""),
    ],
)
def test_a_valid_tracestate_is_passed_on(header, expected):
    assert never.begin(PARENT, header).state == expected


def test_the_configured_ratio_is_sampled():
    sampler = Sampler(0.1)
    sampled = sum(sampler.begin(None, None).sampled for _ in range(5000))
    assert 350 < sampled < 650  # five standard deviations are 106
