"""Metrics of usage with the names that OpenTelemetry's repository for GenAI has since October 2026.

https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/client-inference.md of
commit 024a4f94: with its pull requests 374 (tokens, merged on 2026-09-22) and 521 (duration,
2026-10-06). `telemetry.semconv: genai-2026-10` selects them.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import RequestRecord
from engine.telemetry.metrics.labels import SeriesLabels
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
from engine.telemetry.metrics.usage import (
    GEN_AI_LABELS,
    GEN_AI_SECONDS,
    GEN_AI_TOKENS,
    UsageSeries,
    UsageTables,
    error_type,
)
from engine.values.metric import Metric, counter, histogram
from engine.values.usage import Usage

_OPERATIONS = frozenset({"chat", "generate_content", "text_completion"})
"""`gen_ai.operation.name` of inference; other operations have the duration alone, by
its former name."""

_MODALITY = f"{GEN_AI_LABELS} gen_ai_token_modality"
_WHERE = "with telemetry.semconv: genai-2026-10"
_TOKENS = (*GEN_AI_TOKENS, 67_108_864)

INFERENCE_DURATION = histogram(
    "gen_ai_client_inference_duration_seconds",
    f"{GEN_AI_LABELS} error_type",
    "Duration of chat, generate_content and text_completion "
    f"(gen_ai.client.inference.duration), {_WHERE}.",
    GEN_AI_SECONDS,
)
INPUT_TOKENS = counter(
    "gen_ai_client_inference_usage_input_tokens_total",
    _MODALITY,
    "Input tokens, with cached ones (gen_ai.client.inference.usage.input_tokens), "
    f"{_WHERE}. The modality is audio, image or unknown.",
)
OUTPUT_TOKENS = counter(
    "gen_ai_client_inference_usage_output_tokens_total",
    _MODALITY,
    "Output tokens, with those of reasoning (gen_ai.client.inference.usage.output_tokens), "
    f"{_WHERE}.",
)
CACHE_READ_TOKENS = counter(
    "gen_ai_client_inference_usage_cache_read_input_tokens_total",
    _MODALITY,
    "Input tokens from a provider's cache "
    f"(gen_ai.client.inference.usage.cache_read.input_tokens), {_WHERE}.",
)
CACHE_WRITE_TOKENS = counter(
    "gen_ai_client_inference_usage_cache_write_input_tokens_total",
    _MODALITY,
    "Input tokens stored in a provider's cache "
    f"(gen_ai.client.inference.usage.cache_write.input_tokens), {_WHERE}.",
)
REASONING_TOKENS = counter(
    "gen_ai_client_inference_usage_reasoning_output_tokens_total",
    _MODALITY,
    "Output tokens of reasoning "
    f"(gen_ai.client.inference.usage.reasoning.output_tokens), {_WHERE}.",
)
INPUT_SIZE = histogram(
    "gen_ai_client_inference_operation_input_tokens",
    f"{GEN_AI_LABELS} error_type",
    f"Input tokens of one operation (gen_ai.client.inference.operation.input_tokens), {_WHERE}.",
    _TOKENS,
)
OUTPUT_SIZE = histogram(
    "gen_ai_client_inference_operation_output_tokens",
    f"{GEN_AI_LABELS} error_type",
    f"Output tokens of one operation (gen_ai.client.inference.operation.output_tokens), {_WHERE}.",
    _TOKENS,
)

_BY_MODALITY = (
    # metric, all tokens, those of audio and of images, whether 0 is recorded
    (INPUT_TOKENS, "input", "audio_input", "image_input", True),
    (OUTPUT_TOKENS, "output", "audio_output", "image_output", True),
    (CACHE_READ_TOKENS, "cached", "cached_audio", "cached_image", False),
    (CACHE_WRITE_TOKENS, "cache_write", "", "", False),
    (REASONING_TOKENS, "reasoning", "", "", False),
)


class InferenceTables(UsageTables):
    """The metrics of the usage of a worker's requests, with these names."""

    __slots__ = ("worker_numbers",)

    def __init__(self, worker_numbers: WorkerNumbers) -> None:
        super().__init__(worker_numbers)
        self.worker_numbers = worker_numbers

    def series(self, labels: SeriesLabels) -> UsageSeries:
        return InferenceSeries(self, labels)


class InferenceSeries(UsageSeries):
    """Requests with the same labels. A failed operation counts with the tokens that it used, 0
    without any, as the conventions ask."""

    __slots__ = ("_is_inference", "_worker_numbers")

    def __init__(self, tables: InferenceTables, labels: SeriesLabels) -> None:
        super().__init__(tables, labels)
        self._worker_numbers = tables.worker_numbers
        self._is_inference = labels.gen_ai[0] in _OPERATIONS

    def record(self, records: Sequence[RequestRecord]) -> None:
        """Record the usage of finished requests that asked for a model and reached an upstream."""
        if not self._labels.model:
            return
        for record in records:
            if record.reached_upstream:
                self._record_sums(record)
                self._record_operation(record)

    def _record_sums(self, record: RequestRecord) -> None:
        tables = self._tables
        for kind in ("input", "output", "cached"):
            if count := getattr(record.usage, kind):
                tables.tokens.add(self._place(tables.tokens, kind), count)
        if record.cost:
            place = self._place(tables.cost, self._labels.currency)
            tables.cost.add(place, record.cost / 1e9)

    def _record_operation(self, record: RequestRecord) -> None:
        error = "" if record.outcome is Outcome.COMPLETE else error_type(record)
        labels = (*self._labels.gen_ai, error)
        if not self._is_inference:
            duration = self._tables.duration
            duration.observe(duration.row(labels), record.duration)
            return
        self._worker_numbers.observe(INFERENCE_DURATION, labels, record.duration)
        self._worker_numbers.observe(INPUT_SIZE, labels, record.usage.input)
        self._worker_numbers.observe(OUTPUT_SIZE, labels, record.usage.output)
        for metric, total, audio, image, has_zero in _BY_MODALITY:
            self._add(metric, record.usage, (total, audio, image), has_zero)

    def _add(
        self, metric: Metric, usage: Usage, counts: tuple[str, str, str], has_zero: bool
    ) -> None:
        """Add the tokens of audio and images, and all others, whose modality nobody says."""
        total, audio, image = (getattr(usage, name) if name else 0 for name in counts)
        rest = max(0, total - audio - image)
        for modality, tokens in (("audio", audio), ("image", image), ("unknown", rest)):
            if tokens or (has_zero and not total and modality == "unknown"):
                self._worker_numbers.add(metric, (*self._labels.gen_ai, modality), tokens)
