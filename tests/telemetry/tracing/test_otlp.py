"""Spans on the wire, read back by OpenTelemetry's own messages."""

import pytest

from engine.telemetry.tracing.spans import Kind, Span

pytest.importorskip("opentelemetry.proto", reason="needs the extra otel")

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as wire  # noqa: E402

from engine.telemetry.tracing.otlp import Encoder, refused  # noqa: E402


def span(**more):
    known = {
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "span_id": "b7ad6b7169203331",
        "parent_id": "",
        "flags": 3,
        "state": "a=1",
        "name": "chat gpt-4o",
        "kind": Kind.CLIENT,
        "start": 1,
        "end": 2,
    }
    return Span(**known | more)


def read(*spans):
    body = Encoder({"service.name": "modelway"}, "1.2.3").encode(spans)
    (resource,) = wire.ExportTraceServiceRequest.FromString(body).resource_spans
    (scoped,) = resource.scope_spans
    return resource, scoped


def test_a_span_arrives_as_it_is():
    resource, scoped = read(span())
    (got,) = scoped.spans
    assert resource.resource.attributes[0].key == "service.name"
    assert (scoped.scope.name, scoped.scope.version) == ("modelway", "1.2.3")
    assert (got.trace_id.hex(), got.span_id.hex()) == (span().trace_id, span().span_id)
    assert (got.name, got.kind, got.trace_state) == ("chat gpt-4o", got.SPAN_KIND_CLIENT, "a=1")
    assert (got.start_time_unix_nano, got.end_time_unix_nano) == (1, 2)
    assert got.status.code == got.status.STATUS_CODE_UNSET


@pytest.mark.parametrize(
    ("value", "kind"),
    [("x", "string_value"), (True, "bool_value"), (7, "int_value"), (0.5, "double_value")],
)
def test_values_keep_their_kind(value, kind):
    _, scoped = read(span(attributes={"a": value}))
    (pair,) = scoped.spans[0].attributes
    assert pair.value.WhichOneof("value") == kind
    assert getattr(pair.value, kind) == value


def test_an_error_is_one():
    _, scoped = read(span(error=""))
    assert scoped.spans[0].status.code == scoped.spans[0].status.STATUS_CODE_ERROR


@pytest.mark.parametrize(("afar", "flags"), [(False, 0x103), (True, 0x303)])
def test_the_flags_tell_whose_parent_it_is(afar, flags):
    _, scoped = read(span(from_afar=afar))
    assert scoped.spans[0].flags == flags


def test_text_that_is_no_unicode_does_not_stop_the_others():
    _, scoped = read(span(attributes={"a": "\udcff"}, name="\ud800"), span())
    assert [got.name for got in scoped.spans] == ["?", "chat gpt-4o"]


def test_what_a_collector_did_not_take_is_read_from_its_answer():
    answer = wire.ExportTraceServiceResponse()
    assert refused(answer.SerializeToString()) == 0
    answer.partial_success.rejected_spans = 3
    assert refused(answer.SerializeToString()) == 3
    assert refused(b"<html>") == 0
