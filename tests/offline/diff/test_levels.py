"""Every key of gateway.yaml has a level for its changes, and a change of every key is told."""

import copy
import typing

import pytest

from engine.config import json_schema
from engine.config.config import Config
from engine.offline.diff import formats, kinds
from engine.offline.diff.change_rules import NEUTRAL
from engine.offline.diff.difference import differences_between
from engine.offline.diff.kinds.settings import NOT_SETTINGS, fields_of, is_section
from engine.offline.diff.levels import levels, rule_of
from tests.offline.diff.test_difference import CONFIG, DOCUMENT
from tests.support import yaml_text
from tests.support.each import each
from tests.support.rehearsing import planned

SESSION = {"get": {"operationId": "talk", "responses": {"101": {"description": "a session"}}}}
FROM_QUERY = {"from": "$request.query.page"}


OBJECT_KEY = "0123456789abcdef" * 2
ISSUERS = ("https://a.test", "https://b.test")
SIGN_IN = {"issuer": ISSUERS[0], "client_id": "pages", "keys": [OBJECT_KEY]}

NAMED_SECTIONS = ("specs", "upstreams", "models", "prices", "routes", "tokens", "webhooks")
"""Sections whose entries are known by a name or an index."""


def schema_keys(schema, at=()):
    """The paths of all keys that a schema describes, `*` for names and indexes; a list of plain
    values is one key."""
    root = json_schema.schema()
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    below = [
        ((*at, name), schema_below) for name, schema_below in schema.get("properties", {}).items()
    ]
    entries = []
    if len(at) == 1 or at[-2:] == ("prices", "models"):
        entries = [schema.get(key) for key in ("additionalProperties", "items")]
    below += [((*at, "*"), entry) for entry in entries if isinstance(entry, dict)]
    below += [(at, schema_below) for schema_below in schema.get("anyOf", [])]
    if not below:
        yield ".".join(at)
    for path, schema_below in below:
        yield from schema_keys(schema_below, path)


def fields(kind, at=()):
    """The paths of all fields of the config's sections, in the same form."""
    path = ".".join(at)
    args = [arg for arg in typing.get_args(kind) if arg not in (type(None), ...)]
    if is_section(kind):
        hints = typing.get_type_hints(kind)
        for field, keys in fields_of(kind):
            if field not in NOT_SETTINGS:
                yield from fields(hints[field], (*at, *keys))
    elif path in NAMED_SECTIONS:
        yield from fields(args[-1] if path != "routes" else args[0], (*at, "*"))
    elif args and is_section(args[0]) and typing.get_origin(kind) is not tuple:
        yield from fields(args[0], at)
    else:
        yield path


def has_rule(path):
    """Whether a key, or every key below it, has a rule."""
    try:
        return bool(rule_of(path))
    except KeyError:
        return any(other.startswith(f"{path}.") for other in levels())


KEYS_OF_THE_SCHEMA = sorted(set(schema_keys(json_schema.schema())))
MISSING = "say in schemas/gateway.schema.json what a change of it means: x-modelway"
_OF_SEVERAL_KEYS = {"upstreams.*.timeouts", "tokens.*.limits"}
_OF_NO_KEY = {"tokens.*.teams", "tokens.*.claims"}  # what `team` names; what a JWT says
FIELDS = sorted(set(fields(Config)) - _OF_SEVERAL_KEYS - _OF_NO_KEY)


def test_the_walk_over_schema_and_sections_sees_what_it_should():
    assert {"telemetry.access_log.sample", "routes.*.websocket.ping", "tokens.*.rate"} <= set(
        KEYS_OF_THE_SCHEMA
    )
    assert {"telemetry.access_log.sample", "routes.*.websocket.ping", "tokens.*.models"} <= set(
        FIELDS
    )


@each("key", KEYS_OF_THE_SCHEMA)
def test_every_key_of_the_schema_has_a_level(key):
    assert has_rule(key), MISSING


@each("field", FIELDS)
def test_every_field_of_the_config_has_a_level(field):
    assert has_rule(field), MISSING


@each("path", levels())
def test_every_rule_is_of_a_key_that_there_is(path):
    all_paths = [*KEYS_OF_THE_SCHEMA, *FIELDS]
    assert any(key == path or key.startswith(f"{path}.") for key in all_paths)


@pytest.mark.parametrize("module", sorted({rule.module for rule in levels().values()} - {""}))
def test_every_kind_that_a_rule_names_exists(module):
    assert hasattr(__import__(f"{kinds.__name__}.{module}", fromlist=["x"]), "differences")


def project():
    """The project of the cases, with a WebSocket and a value at every place that is changed."""
    config, document = yaml_text.load(CONFIG), yaml_text.load(DOCUMENT)
    document["paths"]["/talk"] = SESSION
    config["upstreams"]["main"]["health"] = {"path": "/health"}
    config["objects"] = {"key": OBJECT_KEY}
    hook = {"url": "https://hook.test", "secret": "whsec_" + "a2V5" * 8}
    config["webhooks"] = {"x": hook}
    config["routes"].append({"operation": "shop.talk", "to": [{"upstream": "main"}]})
    config["routes"].append({"operation": "shop.other", "to": [{"upstream": "main"}]})
    return config, yaml_text.dump(document)


def with_value(config, path, value):
    """The config with a value at a path; None takes it out."""
    changed = holder = copy.deepcopy(config)
    *above, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in above:
        if isinstance(holder, dict):
            holder = holder.setdefault(step, {})
        else:
            holder = holder[step]
    if value is None:
        holder.pop(last, None)
    else:
        holder[last] = value
    return changed


GUARDS = [
    # path, stronger value, weaker value; None is the default
    ("server.listen", "127.0.0.1:8080", "0.0.0.0:8080"),
    ("server.listen", "unix:/run/x.sock", "localhost:8080"),
    ("server.listen", "[::1]:8080", "[::]:8080"),
    ("server.max_body", "1MB", None),
    ("server.body_timeout", None, "10m"),
    ("server.request_timeout", None, "10m"),
    ("server.stuck_after", None, "1m"),
    ("server.debug_headers", None, True),
    ("server.trusted_proxies", ["10.0.0.0/8"], ["10.0.0.0/8", "::/0"]),
    ("console.enabled", False, None),
    ("console.playground", False, None),
    ("console.tools", False, None),
    ("console.usage", False, None),
    ("console.docs", False, None),
    ("console.sign_in.session", None, "2d"),
    ("objects.owner", None, "team"),
    ("objects.owner", "team", "all"),
    ("objects.legacy", None, "pass"),
    ("objects.responses.store", None, "records"),
    ("objects.responses.retention", "1d", "90d"),
    ("objects.batches.invalid", None, "report"),
    ("objects.files.copy", None, True),
    ("objects.files.max_size", "1MB", "1GB"),
    ("stores.records", "sqlite:///a.db", None),
    ("stores.counters", "redis://host:6379/0", None),
    ("stores.on_store_failure", "deny", "allow"),
    ("stores.on_store_failure", "deny", None),
    ("stores.on_store_failure", None, "allow"),
    ("stores.machines", 3, None),
    ("stores.redis.tls.ca", "identity.pem", None),
    ("stores.token_ttl", None, "10m"),
    ("stores.end_revoked", None, False),
    ("stores.retention", None, "1d"),
    ("stores.retention", "90d", "1d"),
    ("telemetry.access_log.format", None, "off"),
    ("telemetry.access_log.sample", None, 0.1),
    ("telemetry.access_log.path", None, "/dev/null"),
    ("telemetry.access_log.fields", None, ["time", "status"]),
    ("telemetry.log.level", None, "error"),
    ("telemetry.metrics", None, False),
    ("telemetry.series", None, 100),
    ("telemetry.operations", False, None),
    ("telemetry.listen", None, "0.0.0.0:9464"),
    ("telemetry.listen", None, "public"),
    ("telemetry.listen", "off", None),
    ("telemetry.allow_ips", None, ["0.0.0.0/0", "::1"]),
    ("telemetry.traces.endpoint", "https://c.test", "http://c.test"),
    ("telemetry.otlp_metrics.endpoint", "https://c.test", "http://c.test"),
    ("upstreams.main.url", "https://main.test/v1", "http://main.test/v1"),
    ("upstreams.main.ask_usage", None, False),
    ("upstreams.main.cache_in_input", None, True),
    ("upstreams.main.tls.verify", None, False),
    ("upstreams.main.max_in_flight", 4, 8),
    ("upstreams.main.max_in_flight", 4, None),
    ("upstreams.main.tls.ca", "identity.pem", None),
    ("upstreams.main.forward_headers", [], ["x-a"]),
    ("upstreams.main.caller_choices", None, ["*"]),
    ("prices.big.input", 1, 0),
    ("prices.big.output", 2, 1),
    ("prices.big.cached_input", 2, 1),
    ("prices.big.cache_write", 2, 1),
    ("prices.big.cache_write_1h", 2, 1),
    ("prices.big.reasoning", 3, 1),
    ("prices.big.audio_input", 2, 1),
    ("prices.big.cached_audio_input", 2, 1),
    ("prices.big.audio_output", 3, 1),
    ("prices.big.image_input", 2, 1),
    ("prices.big.cached_image_input", 2, 1),
    ("prices.big.image_output", 3, 1),
    ("prices.big.tiers", [{"above": 9, "input": 3}], None),
    ("prices.big.image", 2, None),
    ("prices.big.batch", 1, 0.5),
    ("prices.big.second", 2, 1),
    ("prices.big.character", 2, 1),
    ("prices.big.search", 2, 1),
    ("prices.big", {"input": 1}, None),
    ("policies", [{"rate_limit": {"requests": 1, "per": "1m"}}], []),
    ("routes.0.validate_responses", "report", None),
    ("routes.2.websocket.max_message", None, "1GiB"),
    ("routes.2.websocket.idle", None, "9h"),
    ("routes.2.websocket.session", None, "9d"),
    ("routes.2.websocket.ping", None, "5m"),
    ("routes.2.websocket.max_pings", None, 9_000),
    ("tokens.0.expires", "2027-01-31", None),
    ("tokens.0.models", ["big"], None),
    ("tokens.0.operations", ["shop.chat"], None),
    ("tokens.0.ips", ["10.0.0.0/8"], None),
    ("tokens.0.require", {"region": "eu"}, None),
    ("tokens.0.require.region", "eu", ["eu", "e*"]),
    ("routes.0.require.region", "eu", "*"),
    ("upstreams.main.regions", ["eu", "e-1"], ["eu"]),
    ("tokens.0.rate", "60/1m", None),
    ("webhooks.x.url", "https://hook.test", "http://hook.test"),
    ("tokens.0.token_budget", "60/1m", "90/1m"),
    ("tokens.0.budget", "5 USD/1d", None),
    ("tokens.0.concurrency", 2, 9),
]
"""Each is weaker there, and something else back."""
BREAKING = [
    ("cors.origins", ["https://a.test"], ["*"]),
    ("cors.origins", ["https://a.test"], ["https://a.test", "https://b.test"]),
    ("routes.0.validate", None, "lenient"),
    ("routes.0.validate", "lenient", "report"),
    ("routes.0.validate", "report", "off"),
    ("routes.0.unknown_fields", "reject", "drop"),
    ("routes.0.unknown_fields", "drop", None),
    ("routes.0.readonly", "refuse", "strip"),
    ("routes.0.readonly", "strip", None),
    ("routes.0.auth", None, "none"),
]
"""Each is weaker there, and breaks callers back."""
CHANGES = [
    ("upstreams.main.transform", None, {"request": {"query": {"set": {"a": "1"}}}}),
    ("models.big.transform", None, {"request": {"query": {"set": {"a": "1"}}}}),
    ("server.workers", None, 5),
    ("objects.key", OBJECT_KEY, [OBJECT_KEY[::-1], OBJECT_KEY]),
    ("objects.files.timeout", None, "5s"),
    ("objects.files.expires", None, "5h"),
    ("server.connections", None, 5),
    ("server.keepalive", None, "5s"),
    ("server.grace", None, "5s"),
    ("server.drain.delay", None, "5s"),
    ("server.drain.grace", None, "5s"),
    ("server.heavy.processes", None, 0),
    ("server.heavy.above", None, "1MB"),
    ("server.heavy.queue", None, 5),
    ("server.reuse_port", None, True),
    ("server.watch", None, True),
    ("server.base_url", None, "https://here.test"),
    ("stores.counters_timeout", None, "100ms"),
    ("stores.redis.away_after", None, "100ms"),
    ("stores.redis.connections", None, 9),
    ("stores.redis.tls.certificate", None, "identity.pem"),
    ("stores.redis.sentinel.password", "first-secret", "second-secret"),
    ("client_secrets.keys", ["0123456789abcdef" * 2], ["fedcba9876543210" * 2]),
    ("console.sign_in.issuer", *ISSUERS),
    ("console.sign_in.client_id", "pages", "others"),
    ("console.sign_in.client_secret", "first-secret", "second-secret"),
    ("console.sign_in.scopes", None, ["openid"]),
    ("console.sign_in.keys", [OBJECT_KEY], [OBJECT_KEY[::-1]]),
    ("telemetry.log.format", None, "text"),
    ("telemetry.tags", None, ["project"]),
    ("telemetry.semconv", None, "genai-2026-10"),
    ("telemetry.traces", None, {"endpoint": "http://c.test"}),
    ("telemetry.traces.sample", 1, 0.5),
    ("telemetry.otlp_metrics", None, {"endpoint": "http://c.test"}),
    ("telemetry.otlp_metrics.interval", None, "10s"),
    ("telemetry.otlp_metrics.headers", {"x-a": "first-secret"}, {"x-a": "second-secret"}),
    ("telemetry.traces.headers", {"x-a": "first-secret"}, {"x-a": "second-secret"}),
    ("upstreams.main.dialect", None, "openai"),
    ("upstreams.main.responses_websocket", None, True),
    ("upstreams.main.provider", None, "ollama"),
    ("upstreams.main.missing_paths", None, ["/responses"]),
    ("upstreams.main.credential", {"bearer": "a-b"}, {"bearer": "c-d"}),
    ("upstreams.spare.credentials", [{"bearer": "a-b"}], [{"bearer": "c-d"}]),
    ("upstreams.main.headers.remove", [], ["x-b"]),
    ("upstreams.main.proxy", None, "http://proxy.test:3128"),
    *((f"upstreams.main.timeouts.{key}", None, "7s") for key in ("connect", "first_byte")),
    *((f"upstreams.main.timeouts.{key}", None, "7s") for key in ("idle", "total")),
    ("upstreams.main.retry.attempts", None, 9),
    ("upstreams.main.retry.on", None, ["connect"]),
    ("upstreams.main.retry.budget", None, 0.9),
    ("upstreams.main.retry.max_wait", None, "9s"),
    ("upstreams.main.breaker.failures", None, 9),
    ("upstreams.main.breaker.window", None, "9s"),
    ("upstreams.main.breaker.cooldown", None, "9s"),
    ("upstreams.main.ejection.errors", None, 0.9),
    ("upstreams.main.ejection.latency", None, 9),
    ("upstreams.main.ejection.requests", None, 9),
    *((f"upstreams.main.ejection.{key}", None, "9s") for key in ("window", "time", "slow_start")),
    ("upstreams.main.ejection.max_time", None, "9m"),
    ("upstreams.main.ejection.max_out", None, 0.9),
    ("upstreams.main.health.path", "/health", "/ready"),
    ("upstreams.main.health.every", None, "9s"),
    ("upstreams.main.health.timeout", None, "1500ms"),
    ("upstreams.main.health.healthy", None, 9),
    ("upstreams.main.health.unhealthy", None, 9),
    ("upstreams.main.health.status", None, [204]),
    ("upstreams.main.health.anonymous", None, True),
    ("upstreams.main.rate_limits.reserve", None, 0.4),
    ("upstreams.main.heartbeat", None, "9s"),
    ("upstreams.main.queue.size", None, 9),
    ("upstreams.main.queue.wait", None, "9s"),
    ("upstreams.main.queue", {"size": 9}, None),
    ("models.big.to.0.max_in_flight", 2, 9),
    ("routes.0.priority", None, "low"),
    ("routes.0.hedge", {"idempotent": True}, None),
    ("routes.3.hedge.after", None, "2s"),
    ("routes.3.hedge.idempotent", None, True),
    ("upstreams.main.pool", None, 9),
    ("upstreams.main.pool.size", None, 9),
    ("upstreams.main.pool.idle", None, "9s"),
    ("upstreams.main.pool.age", None, "9s"),
    ("upstreams.main.resolve", None, {}),
    ("upstreams.main.resolve.every", None, "9s"),
    ("upstreams.main.resolve.srv", None, "_http._tcp.main.test"),
    ("upstreams.main.resolve.file", None, "addresses.txt"),
    ("upstreams.main.resolve.server", None, "127.0.0.1:8600"),
    ("upstreams.main.resolve.max_addresses", None, 9),
    ("upstreams.main.tls.certificate", None, "identity.pem"),
    ("models.big.choose", "least_busy", "fastest"),
    ("models.big.to", [{"upstream": "main"}], [{"upstream": "spare"}]),
    ("models.big.fallback", None, ["small"]),
    (
        "models.big.mirror",
        None,
        {"to": [{"upstream": "spare"}], "percent": 5, "operations": ["shop.chat"]},
    ),
    ("models.big.when", None, [{"if": {"caller": "alice"}, "to": [{"upstream": "spare"}]}]),
    ("models.big.operations", None, ["shop.chat"]),
    ("models.big.translate", None, "off"),
    ("models.big.drop", None, ["logit_bias"]),
    ("models.big.tokenizer", None, "tokenizer.json"),
    ("models.big.title", None, "Big"),
    ("models.big.owner", None, "me"),
    ("models.big.created", None, 5),
    ("currency", None, "EUR"),
    ("specs.shop.dialect", None, "anthropic"),
    ("routes.0.model", "$request.body#/model", "$request.query.page"),
    ("routes.3.choose", "least_busy", "fastest"),
    ("routes.3.to", [{"upstream": "main"}], [{"upstream": "spare"}]),
    ("routes.2.websocket.compression", None, True),
    ("tokens.0.sha256", "1" * 64, "2" * 64),
    ("tokens.0.team", "blue", "red"),
    ("tokens.0.warn_at", None, ["80%"]),
    ("webhooks.x.secret", "whsec_" + "b2xk" * 8, ["whsec_" + "bmV3" * 8]),
    ("webhooks.x.timeout", None, "5s"),
    ("tags", None, {"project": "$request.body#/metadata/project"}),
    ("tags", {"a": {"header": "x", "trusted": ["b"]}}, {"a": {"header": "x", "trusted": ["*"]}}),
    ("tokens.0.priority", "low", "high"),
]
"""Each is told, and guards no less in either direction."""
PRICE_KEYS = json_schema.schema()["$defs"]["price"]["properties"]
ELSEWHERE = [
    ("stores.journal",),
    ("stores.redis.prefix",),
    ("stores.redis.tls.key",),
    ("stores.redis.sentinel.user",),
    ("routes.0.model.also",),
    ("upstreams.main.tls.key",),
    *((f"upstreams.main.{key}",) for key in ("mcp", "pins")),
    ("upstreams.main.variables",),
    *((f"routes.0.{key}",) for key in ("operation", "operations", "model.from", "model.default")),
    *((f"routes.0.{key}",) for key in ("answer", "policies")),
    ("mcp",),
    ("callers.jwt",),
    *((f"teams.*.{key}",) for key in ("in", "models", "operations", "rate", "token_budget")),
    *((f"teams.*.{key}",) for key in ("budget", "concurrency", "require.region", "warn_at")),
    ("providers.catalog",),
    ("teams.*.prices.markup",),
    *((f"teams.*.prices.models.*.{key}",) for key in PRICE_KEYS),
    *((f"routes.*.{key}",) for key in ("hosts", "respond.status", "respond.headers")),
    ("routes.*.respond.body",),
    ("specs.shop.mount",),
    ("specs.shop.token",),
]
"""Changed in a test below, or in tests/cases/diff."""


@pytest.fixture(scope="module")
def levels_of(tmp_path_factory):
    config, document = project()

    def compared(path, old, new):
        sides = []
        for value in (old, new):
            folder = tmp_path_factory.mktemp("side")
            base = config
            if path.endswith("also"):
                base = with_value(config, "routes.0.model", FROM_QUERY)
            changed = with_value(base, path, value)
            if path.startswith("upstreams.main.queue"):
                changed["upstreams"]["main"]["max_in_flight"] = 4
            if path.startswith(("telemetry.traces.", "telemetry.otlp_metrics.")):
                collector = changed["telemetry"][path.split(".")[1]]
                collector.setdefault("endpoint", "http://c.test")
            if path == "telemetry.tags":
                changed["tags"] = {"project": "$request.body#/metadata/project"}
            if path.startswith("console.sign_in."):
                pages = changed["console"]
                pages["sign_in"] = {**SIGN_IN, **pages["sign_in"]}
                changed.setdefault("server", {})["base_url"] = "https://here.test"
                jwt = [{"issuer": issuer, "audience": "x"} for issuer in ISSUERS]
                changed["callers"] = {"jwt": jwt}
            if path.startswith("objects.responses."):
                changed["stores"] = {**changed.get("stores", {}), "records": "sqlite:///a.db"}
            if path.startswith("stores.redis."):
                changed["stores"]["counters"] = "rediss+sentinel://c.test/limits"
            sides.append(planned(folder, yaml_text.dump(changed), document))
        there, back = differences_between(*sides), differences_between(*reversed(sides))
        output = formats.as_text([*there, *back])
        assert "-secret" not in output, output
        return {str(difference.level) for difference in there}, {
            str(difference.level) for difference in back
        }

    return compared


@pytest.mark.parametrize(("path", "strong", "weak"), GUARDS)
def test_a_weaker_value_is_weaker_and_its_reverse_is_reported(levels_of, path, strong, weak):
    there, back = levels_of(path, strong, weak)
    assert "weaker" in there
    assert back
    assert "weaker" not in back


@pytest.mark.parametrize(("path", "strong", "weak"), BREAKING)
def test_what_guards_less_is_weaker_and_the_way_back_breaks_callers(levels_of, path, strong, weak):
    assert levels_of(path, strong, weak) == ({"weaker"}, {"breaking"})


@pytest.mark.parametrize(("path", "old", "new"), CHANGES)
def test_an_equally_strong_value_is_reported_in_both_directions(levels_of, path, old, new):
    there, back = levels_of(path, old, new)
    assert there
    assert back
    assert "weaker" not in there | back


def test_another_journal_leaves_rows_behind_in_either_direction(levels_of):
    assert levels_of("stores.journal", None, "var/other") == ({"weaker"}, {"weaker"})


def test_another_prefix_of_redis_begins_all_limits_again_in_either_direction(levels_of):
    assert levels_of("stores.redis.prefix", None, "other") == ({"weaker"}, {"weaker"})


def test_the_month_of_another_time_zone_guards_no_less(levels_of):
    limit = {"amount": 20, "per": "month"}
    month, moved = [{"spend_limit": limit}], [{"spend_limit": {**limit, "time_zone": "Asia/Tokyo"}}]
    assert levels_of("policies", month, moved) == ({"changed"}, {"changed"})


def test_the_places_that_repeat_a_model_are_compared(levels_of):
    there, back = levels_of("routes.0.model.also", None, ["$request.body#/model"])
    assert (there, back) == ({"changed"}, {"weaker"})


def test_a_client_certificate_and_its_key_are_compared(levels_of):
    both = {"certificate": "identity.pem", "key": "identity.pem"}
    assert levels_of("upstreams.main.tls", None, both) == ({"changed"}, {"changed"})


def changed_keys():
    for path, *_ in (*GUARDS, *BREAKING, *CHANGES, *ELSEWHERE):
        section, *below = path.split(".")
        yield ".".join(
            [section, "*", *below[1:]] if section in NAMED_SECTIONS and below else [section, *below]
        )


@each("path", [path for path, rule in levels().items() if rule is not NEUTRAL])
def test_every_key_that_has_an_effect_is_changed_in_a_test(path):
    """Here, or (a list of routes or operations) in tests/cases/diff."""
    assert any(f"{key}.".startswith(f"{path}.") for key in changed_keys())


def test_a_url_is_shown_without_its_password():
    message = rule_of("upstreams.*.url").message("url", "http://u:secret@a", "http://u:other@b")
    assert message == "url is http://u:***@b, was http://u:***@a"
