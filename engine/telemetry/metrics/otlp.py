"""OTLP/HTTP: the page of metrics as protobuf for `POST /v1/metrics`.

https://opentelemetry.io/docs/specs/otlp/#otlphttp. Names become those that Prometheus makes of
them again (https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/): a
counter loses `_total`, and GenAI's metrics and attributes get the points of their conventions.
Needs the extra `otel`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.metrics.v1 import metrics_pb2 as proto
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from engine.telemetry.tracing.otlp import attribute_pairs
from engine.telemetry.tracing.spans import Attributes

MAX_SERIES = 2_000
"""Series in one request: about 400 KB, of which collectors take megabytes."""
GEN_AI_NAMES = {
    name.replace(".", "_") + ("_seconds" if unit == "s" else ""): (name, unit)
    for name, unit in (
        ("gen_ai.client.operation.duration", "s"),
        ("gen_ai.client.token.usage", "{token}"),
        ("gen_ai.client.inference.duration", "s"),
        ("gen_ai.client.inference.usage.input_tokens", "{token}"),
        ("gen_ai.client.inference.usage.output_tokens", "{token}"),
        ("gen_ai.client.inference.usage.cache_read.input_tokens", "{token}"),
        ("gen_ai.client.inference.usage.cache_write.input_tokens", "{token}"),
        ("gen_ai.client.inference.usage.reasoning.output_tokens", "{token}"),
        ("gen_ai.client.inference.operation.input_tokens", "{token}"),
        ("gen_ai.client.inference.operation.output_tokens", "{token}"),
    )
}
_CUMULATIVE = proto.AGGREGATION_TEMPORALITY_CUMULATIVE


class Interval(NamedTuple):
    """When the counting began, and now, in Unix nanoseconds."""

    start: int
    now: int


class MetricsEncoder:
    """Encodes export requests for the metrics of one `resource`; `version` is the gateway's."""

    def __init__(self, resource: Attributes, version: str) -> None:
        self._resource = Resource(attributes=attribute_pairs(resource))
        self._scope = InstrumentationScope(name="modelway", version=version)

    def encode(self, page: str, interval: Interval) -> Iterator[bytes]:
        """The bodies of the requests that export a page of Prometheus's text format."""
        metrics: list[proto.Metric] = []
        size = 0
        for family in text_string_to_metric_families(page):
            if size + len(family.samples) > MAX_SERIES and metrics:
                yield self._body(metrics)
                metrics, size = [], 0
            metrics.append(_metric(family, interval))
            size += len(family.samples)
        if metrics:
            yield self._body(metrics)

    def _body(self, metrics: list[proto.Metric]) -> bytes:
        scope = proto.ScopeMetrics(scope=self._scope, metrics=metrics)
        resource = proto.ResourceMetrics(resource=self._resource, scope_metrics=[scope])
        request = ExportMetricsServiceRequest(resource_metrics=[resource])
        return bytes(request.SerializeToString())


def _metric(family: Family, interval: Interval) -> proto.Metric:
    name, unit = GEN_AI_NAMES.get(family.name, (family.name, _unit(family.name)))
    metric = proto.Metric(name=name, unit=unit, description=family.documentation)
    if family.type == "histogram":
        metric.histogram.aggregation_temporality = _CUMULATIVE
        metric.histogram.data_points.extend(_histogram_points(family.samples, interval))
    elif family.type == "counter":
        metric.sum.aggregation_temporality, metric.sum.is_monotonic = _CUMULATIVE, True
        metric.sum.data_points.extend(_number_points(family.samples, interval))
    else:
        metric.gauge.data_points.extend(_number_points(family.samples, interval))
    return metric


def _unit(name: str) -> str:
    """The unit that the name of a metric ends in, in UCUM."""
    return {"seconds": "s", "bytes": "By"}.get(name.rpartition("_")[2], "")


def _number_points(
    samples: Iterable[Sample], interval: Interval
) -> Iterator[proto.NumberDataPoint]:
    for sample in samples:
        yield proto.NumberDataPoint(
            attributes=_attributes(sample.labels),
            start_time_unix_nano=interval.start,
            time_unix_nano=interval.now,
            as_double=sample.value,
        )


def _histogram_points(
    samples: Iterable[Sample], interval: Interval
) -> Iterator[proto.HistogramDataPoint]:
    """One point for each series, whose samples are its buckets, which are cumulative, and sum."""
    series: dict[tuple[tuple[str, str], ...], tuple[dict[float, float], list[float]]] = {}
    for sample in samples:
        labels = dict(sample.labels)
        bound = labels.pop("le", None)
        buckets, sums = series.setdefault(tuple(sorted(labels.items())), ({}, []))
        if bound is not None:
            buckets[float(bound)] = sample.value
        elif sample.name.endswith("_sum"):
            sums.append(sample.value)
    for key, (buckets, sums) in series.items():
        bounds = sorted(buckets)
        counts = [int(buckets[bound]) for bound in bounds]
        yield proto.HistogramDataPoint(
            attributes=_attributes(dict(key)),
            start_time_unix_nano=interval.start,
            time_unix_nano=interval.now,
            count=counts[-1],
            sum=sum(sums),
            bucket_counts=[a - b for a, b in zip(counts, [0, *counts], strict=False)],
            explicit_bounds=bounds[:-1],
        )


def _attributes(labels: Mapping[str, str]) -> list[Any]:
    return attribute_pairs({_attribute_name(name): value for name, value in labels.items()})


def _attribute_name(label: str) -> str:
    """The name of an attribute of the conventions, which labels have with underscores."""
    if label.startswith("gen_ai_"):
        head, _, rest = label.removeprefix("gen_ai_").partition("_")
        return f"gen_ai.{head}.{rest}"
    return "error.type" if label == "error_type" else label
