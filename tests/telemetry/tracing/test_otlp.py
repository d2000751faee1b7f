"""Encoded spans are read back by OpenTelemetry's own messages."""

import pytest

from engine.telemetry.tracing.spans import Kind, Span

pytest.importorskip("opentelemetry.proto", reason="needs the extra otel")

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as wire  # noqa: E402

from engine.telemetry.tracing.otlp import Encoder, rejected_spans, resource_attributes  # noqa: E402


def span(**fields):
    defaults = {
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
    return Span(**defaults | fields)


def read(*spans):
    body = Encoder({"service.name": "modelway"}, "1.2.3").encode(spans)
    (resource,) = wire.ExportTraceServiceRequest.FromString(body).resource_spans
    (scoped,) = resource.scope_spans
    return resource, scoped


def test_a_span_is_encoded():
    resource, scoped = read(span())
    (message,) = scoped.spans
    assert resource.resource.attributes[0].key == "service.name"
    assert (scoped.scope.name, scoped.scope.version) == ("modelway", "1.2.3")
    assert (message.trace_id.hex(), message.span_id.hex()) == (span().trace_id, span().span_id)
    assert (message.name, message.kind, message.trace_state) == (
        "chat gpt-4o",
        message.SPAN_KIND_CLIENT,
        "a=1",
    )
    assert (message.start_time_unix_nano, message.end_time_unix_nano) == (1, 2)
    assert message.status.code == message.status.STATUS_CODE_UNSET


@pytest.mark.parametrize(
    ("value", "kind"),
    [("x", "string_value"), (True, "bool_value"), (7, "int_value"), (0.5, "double_value")],
)
def test_values_keep_their_type(value, kind):
    _, scoped = read(span(attributes={"a": value}))
    (pair,) = scoped.spans[0].attributes
    assert pair.value.WhichOneof("value") == kind
    assert getattr(pair.value, kind) == value


def test_an_error_sets_the_status():
    _, scoped = read(span(error=""))
    assert scoped.spans[0].status.code == scoped.spans[0].status.STATUS_CODE_ERROR


@pytest.mark.parametrize(("remote", "flags"), [(False, 0x103), (True, 0x303)])
def test_the_flags_say_whether_the_parent_is_remote(remote, flags):
    _, scoped = read(span(remote_parent=remote))
    assert scoped.spans[0].flags == flags


def test_lone_surrogates_are_replaced():
    _, scoped = read(span(attributes={"a": "\udcff"}, name="\ud800"), span())
    assert [message.name for message in scoped.spans] == ["?", "chat gpt-4o"]


def test_rejected_spans_are_read_from_the_response():
    answer = wire.ExportTraceServiceResponse()
    assert rejected_spans(answer.SerializeToString()) == 0
    answer.partial_success.rejected_spans = 3
    assert rejected_spans(answer.SerializeToString()) == 3
    assert rejected_spans(b"<html>") == 0


def resource(**environ):
    return resource_attributes(environ, "1.2.3", "host-1", 42)


def test_the_resource_describes_the_worker():
    assert resource() == {
        "service.name": "modelway",
        "service.version": "1.2.3",
        "service.instance.id": "host-1:42",
        "host.name": "host-1",
        "process.pid": 42,
    }


def test_the_environment_overrides_the_resource():
    attributes = resource(
        OTEL_SERVICE_NAME="shop-gateway",
        OTEL_RESOURCE_ATTRIBUTES="service.name=other, deployment.environment.name=prod%2Feu,",
    )
    assert attributes["service.name"] == "shop-gateway"
    assert attributes["deployment.environment.name"] == "prod/eu"


def test_invalid_resource_attributes_are_ignored(caplog):
    assert resource(OTEL_RESOURCE_ATTRIBUTES="a=1,nonsense") == resource()
    assert "OTEL_RESOURCE_ATTRIBUTES" in caplog.text
