"""The metrics there are: name, kind, labels, what each says. Nothing else may be at `/metrics`.

Labels are bounded whatever callers send: `operation` is one of the config's ("" for a request that
found none), `model` a name or wildcard under `models` ("" for none), `upstream` one under
`upstreams`. Durations are in seconds. Names of OpenTelemetry's semantic conventions for GenAI are
written as Prometheus writes them: `gen_ai.client.token.usage` is `gen_ai_client_token_usage`.
"""

from __future__ import annotations

from engine.values.metric import Metric

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640)
SHORT = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)
GAPS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60)
GEN_AI_SECONDS = (
    *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56),
    *(5.12, 10.24, 20.48, 40.96, 81.92),
)
"""Boundaries that the semantic conventions ask for."""
GEN_AI_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)


def _counter(name: str, labels: str, words: str) -> Metric:
    return Metric(name, "counter", tuple(labels.split()), words)


def _gauge(name: str, labels: str, words: str, mode: str = "livesum") -> Metric:
    return Metric(name, "gauge", tuple(labels.split()), words, mode=mode)


def _histogram(name: str, labels: str, words: str, buckets: tuple[float, ...]) -> Metric:
    return Metric(name, "histogram", tuple(labels.split()), words, buckets)


_GEN_AI = "gen_ai_operation_name gen_ai_provider_name gen_ai_request_model"

REQUESTS = _counter(
    "modelway_requests_total",
    "operation model upstream status outcome",
    "Requests that ended. status is its class (2xx); outcome complete, caller_left, upstream_cut, "
    "shutdown, refused or failed; model the one asked for.",
)
DURATION = _histogram(
    "modelway_request_duration_seconds",
    "operation model",
    "From a request's head to the last byte of its answer.",
    SECONDS,
)
FIRST_BYTE = _histogram(
    "modelway_time_to_first_byte_seconds",
    "operation model upstream",
    "From a request's head to the first content of its answer.",
    SECONDS,
)
GAP = _histogram(
    "modelway_stream_event_gap_seconds",
    "model upstream",
    "Mean time between the events of a stream; one observation for each stream.",
    GAPS,
)
STALL = _histogram(
    "modelway_stream_longest_gap_seconds",
    "model upstream",
    "Longest time between two events of a stream; one observation for each stream.",
    GAPS,
)
OVERHEAD = _histogram(
    "modelway_gateway_overhead_seconds",
    "operation",
    "The gateway's own share of a request: its duration without waiting for upstream or caller.",
    SHORT,
)
TOKENS = _counter(
    "modelway_tokens_total",
    "model upstream type",
    "Tokens used, by the model that served. type is input (with cached), output or cached.",
)
COST = _counter(
    "modelway_cost_total", "model upstream currency", "What requests cost, in units of currency."
)
ATTEMPTS = _counter(
    "modelway_upstream_attempts_total",
    "upstream result",
    "Tries of an upstream. result is ok or the class of the failure: connect, reset, 408, 429, "
    "5xx, error, credential, fatal.",
)
RETRIES = _counter(
    "modelway_upstream_retries_total", "upstream", "Tries that were not a request's first."
)
REFUSALS = _counter(
    "modelway_refusals_total",
    "operation code",
    "Requests refused with a 4xx of the gateway's own; code is that of the error.",
)
WOULD_REJECT = _counter(
    "modelway_would_reject_total",
    "operation part code",
    "What strict validation would refuse where a route only reports: part is request or response, "
    "code that of the error. The log has the places.",
)
LIMITS = _counter(
    "modelway_limits_hit_total",
    "policy",
    "Requests that a limit refused: the policy's name, token for a limit of the token's own.",
)
UNCOUNTED = _counter(
    "modelway_counters_away_total",
    "",
    "Requests whose limits the counters' store did not check: stores.on_store_failure decided.",
)
MESSAGES = _counter(
    "modelway_websocket_messages_total", "operation direction", "Messages. direction is in or out."
)
CLOSES = _counter(
    "modelway_websocket_closes_total",
    "operation code",
    "Sessions that ended, by close code; other is one that is not of RFC 6455.",
)
GEN_AI_DURATION = _histogram(
    "gen_ai_client_operation_duration_seconds",
    _GEN_AI + " error_type",
    "GenAI operation duration (gen_ai.client.operation.duration). error_type is the status, or "
    "the outcome of an answer that broke; empty when all went well.",
    GEN_AI_SECONDS,
)
GEN_AI_USAGE = _histogram(
    "gen_ai_client_token_usage",
    _GEN_AI + " gen_ai_token_type",
    "Tokens used by one operation (gen_ai.client.token.usage); the type is input or output.",
    GEN_AI_TOKENS,
)
IN_FLIGHT = _gauge("modelway_requests_in_flight", "", "Requests under way.")
SESSIONS = _gauge("modelway_websocket_sessions_open", "", "WebSockets that are open.")
BREAKER = _gauge(
    "modelway_breaker_state",
    "upstream target",
    "Circuit breaker: 0 closed, 1 half-open, 2 open; of several workers the worst. target is "
    "`entry/model` as under models, empty for a route's own.",
    "livemax",
)
POOL = _gauge(
    "modelway_pool_connections", "upstream state", "Connections to upstreams: state idle or busy."
)
LEDGER_ROWS = _gauge(
    "modelway_ledger_lag_rows", "", "Rows of the ledger that wait in the journal for the database."
)
LEDGER_AGE = _gauge(
    "modelway_ledger_lag_seconds", "", "Age of the oldest row that waits.", "livemax"
)
LEDGER_LOST = _counter("modelway_ledger_rows_lost_total", "", "Rows that could not be written.")
LEDGER_REFUSED = _counter(
    "modelway_ledger_rows_refused_total", "", "Rows that the database does not take."
)
LEDGER_SHIPPED = _counter("modelway_ledger_rows_shipped_total", "", "Rows that got there.")
LOOKUPS = _counter(
    "modelway_token_lookups_total",
    "result",
    "Looking tokens up in the database: asked, failed, unknown (asked, and not there), stale "
    "(answered from memory while it is away).",
)
RECORDS_AWAY = _gauge(
    "modelway_records_away", "", "1 while the database of tokens cannot be asked.", "livemax"
)
LINES_LOST = _counter(
    "modelway_log_lines_dropped_total", "", "Log lines dropped because nobody read them in time."
)
SPANS_SENT = _counter("modelway_trace_spans_sent_total", "", "Spans that the collector took.")
SPANS_LOST = _counter(
    "modelway_trace_spans_lost_total",
    "",
    "Spans lost: the collector was away too long, or refused.",
)
CONFIG = _gauge(
    "modelway_config_info", "hash", "1 for the config that is served, by its SHA-256.", "livemax"
)
CONFIG_LOADED = _gauge(
    "modelway_config_loaded_timestamp_seconds",
    "",
    "When the config that is served was read (Unix time; of several workers the oldest).",
    "livemin",
)
RELOAD_OK = _gauge(
    "modelway_config_reload_success", "", "1 if the last reload was taken, or none was.", "livemin"
)
WORKERS = _gauge("modelway_workers", "", "Worker processes that live.")
MEMORY = _gauge("modelway_resident_memory_bytes", "", "Resident memory of all workers.")
CPU = _counter("modelway_cpu_seconds_total", "", "CPU time of all workers.")
BUILD = _gauge("modelway_build_info", "version python", "Always 1.", "livemax")

ALL: tuple[Metric, ...] = tuple(value for value in globals().values() if isinstance(value, Metric))
