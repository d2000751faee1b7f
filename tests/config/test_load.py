"""Values of gateway.yaml arrive right: seconds, bytes, moments, places, defaults."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.config.json_schema import schema
from engine.config.load import load
from engine.config.server import Server
from engine.config.upstreams import Breaker, Credential, HeaderChanges, Retry, Tls
from engine.source.problem import Findings
from engine.upstream import retry
from engine.upstream.client.client import Timeouts

HEAD = """version: 1
specs: {shop: {document: shop.yaml}}
routes: [{operation: shop.x, answer: models}]
"""


def config(text, environ=None, folder=Path("/folder")):
    findings = Findings()
    made, _ = load(HEAD + text, "gateway.yaml", folder, environ or {}, findings)
    assert findings.problems == []
    return made


def errors(text, environ=None):
    findings = Findings()
    load(HEAD + text, "gateway.yaml", Path("/folder"), environ or {}, findings)
    return [(p.line, p.column, p.code) for p in findings.errors]


def upstream(text):
    return config(f"upstreams: {{main: {{url: http://host, {text}}}}}\n").upstreams["main"]


def test_the_least_config_has_the_defaults():
    made = config("")
    assert made.server == Server()
    assert (made.upstreams, made.models, made.policies, made.tokens) == ({}, {}, (), {})
    assert (made.folder, made.source.file) == (Path("/folder"), "gateway.yaml")


def test_durations_are_seconds_and_sizes_are_bytes():
    made = config(
        "server: {listen: '[::]:80', workers: 3, connections: 5, max_body: 1.5MiB,"
        " body_timeout: 250ms, request_timeout: 2m, keepalive: 10m, grace: 1h}\n"
    )
    assert made.server == Server(
        "[::]:80", 3, 5, 1_572_864, 0.25, 600.0, 3600.0, request_timeout=120.0
    )


def test_a_number_may_come_from_a_variable():
    assert config("server:\n  workers: ${WORKERS:-4}\n").server.workers == 4
    assert config("server:\n  workers: ${WORKERS:-4}\n", {"WORKERS": "7"}).server.workers == 7


def test_a_credential_of_digits_only_stays_a_string():
    made = config(
        'upstreams: {main: {url: http://host, credential: {bearer: "${KEY}"}}}\n', {"KEY": "007"}
    )
    assert made.upstreams["main"].credentials[0].value == "Bearer 007"


def test_timeouts_are_seconds_and_absent_ones_have_their_defaults():
    timeouts = upstream("timeouts: {connect: 1s, total: 5m}").timeouts
    assert timeouts == {"connect": 1, "first_byte": 60, "idle": 60, "total": 300}
    assert upstream("pool: 1").timeouts == Timeouts()._asdict()


@pytest.mark.parametrize(
    ("said", "credential"),
    [
        ("{bearer: abc}", Credential("header", "authorization", "Bearer abc")),
        ("{header: X-Api-Key, value: abc}", Credential("header", "x-api-key", "abc")),
        ("{query: Key, value: abc}", Credential("query", "Key", "abc")),
    ],
)
def test_a_credential_is_a_header_or_a_query_parameter(said, credential):
    assert upstream(f"credential: {said}").credentials == (credential,)


def test_several_credentials_keep_their_order():
    made = upstream("credentials: [{bearer: b}, {query: k, value: a}]").credentials
    assert [one.value for one in made] == ["Bearer b", "a"]


def test_a_credential_never_shows_itself():
    assert "abc" not in repr(upstream("credential: {bearer: abc}"))


def test_an_upstream_has_defaults():
    made = upstream("pool: 100")
    assert (made.dialect, made.credentials, made.forward_headers) == ("", (), ())
    assert (made.proxy, made.tls, made.at) == (None, Tls(), ("upstreams", "main"))
    assert (made.retry, made.breaker, made.headers) == (Retry(), Breaker(), HeaderChanges())
    assert made.heartbeat is None


def test_patience_with_failures_is_in_seconds_and_classes():
    made = upstream(
        "retry: {attempts: 3, on: [connect, 429, '5xx'], budget: 0.5, max_wait: 250ms},"
        " breaker: {failures: 2, window: 1m, cooldown: 1.5s}, heartbeat: 15s"
    )
    assert made.retry == Retry(3, frozenset({"connect", "429", "5xx"}), 0.5, 0.25)
    assert made.breaker == Breaker(2, 60.0, 1.5)
    assert made.heartbeat == 15.0


def test_what_is_not_said_of_patience_keeps_its_default():
    assert upstream("retry: {on: []}").retry == Retry(on=frozenset())
    assert upstream("breaker: {failures: 1}").breaker == Breaker(1)


def test_a_heartbeat_of_no_time_is_none():
    assert upstream("heartbeat: 0s").heartbeat is None


def test_every_class_of_failures_may_be_named_and_no_other():
    on = schema()["$defs"]["upstream"]["properties"]["retry"]["properties"]["on"]["items"]
    assert set(on["anyOf"][0]["enum"]) == set(retry.CLASSES)
    assert set(Retry().on) == set(retry.CLASSES)


def test_headers_are_changed_by_names_in_lower_case():
    made = upstream("headers: {set: {X-A: '1'}, add: {X-B: b}, remove: [X-C, x-d]}").headers
    assert made == HeaderChanges({"x-a": "1"}, {"x-b": "b"}, frozenset({"x-c", "x-d"}))


def test_debug_headers_are_off_unless_asked_for():
    assert config("").server.debug_headers is False
    assert config("server: {debug_headers: true}\n").server.debug_headers is True


def test_an_upstream_url_loses_its_last_slash():
    made = config("upstreams: {main: {url: 'http://host/v1/'}}\n")
    assert made.upstreams["main"].url == "http://host/v1"


def test_no_proxy_differs_from_nothing_said():
    assert upstream("proxy: ''").proxy == ""


def test_files_of_tls_are_found_from_the_folder_of_the_config(tmp_path):
    (tmp_path / "ca.pem").write_text("x")
    text = "upstreams: {main: {url: https://host, tls: {ca: ca.pem, verify: false}}}\n"
    tls = config(text, folder=tmp_path).upstreams["main"].tls
    assert tls == Tls(ca=str(tmp_path / "ca.pem"), verify=False)


def test_a_model_has_targets_with_places():
    made = config("models:\n  a:\n    to: [{upstream: x}, {upstream: y, model: b, weight: 2.5}]\n")
    model = made.models["a"]
    assert [(t.upstream, t.model, t.weight) for t in model.to] == [("x", "", 1.0), ("y", "b", 2.5)]
    assert [made.source.place(t.at) for t in model.to] == [(6, 10), (6, 25)]
    assert (model.fallback, model.title, model.owner, model.created) == ((), "a", "modelway", 0)


def test_a_model_says_how_it_is_listed():
    model = config(
        "models: {a: {to: [{upstream: x}], fallback: [b, c], title: T, owner: O, created: 5}}\n"
    ).models["a"]
    assert (model.fallback, model.title, model.owner, model.created) == (("b", "c"), "T", "O", 5)


def load_routes(text, specs="shop: {document: shop.yaml}"):
    findings = Findings()
    whole = f"version: 1\nspecs: {{{specs}}}\nroutes:\n{text}"
    made, _ = load(whole, "f", Path(), {}, findings)
    assert findings.problems == []
    return made


def test_a_route_has_its_operations_with_places():
    made = load_routes("  - {operation: a.b, operations: [a.c, a.d], answer: models}\n")
    operations = [(name, made.source.place(at)) for name, at in made.routes[0].operations]
    assert operations == [("a.b", (4, 17)), ("a.c", (4, 35)), ("a.d", (4, 40))]


def test_operations_may_be_one_wildcard():
    made = load_routes("  - {operations: a.*, answer: models}\n")
    assert [name for name, _ in made.routes[0].operations] == ["a.*"]


@pytest.mark.parametrize(
    ("said", "found", "default"),
    [
        ("model: $request.body#/model", "$request.body#/model", ""),
        ("model: {from: $request.path.m}", "$request.path.m", ""),
        ("model: {from: $request.query.m, default: d}", "$request.query.m", "d"),
        ("answer: models", "", ""),
    ],
)
def test_a_route_says_where_its_model_is(said, found, default):
    route = load_routes(f"  - {{operation: a.b, {said}}}\n").routes[0]
    assert (route.model, route.default_model) == (found, default)


def test_a_route_is_guarded_and_checked_unless_it_says_otherwise():
    plain, open_one = load_routes(
        "  - {operation: a.b, answer: models}\n"
        "  - {operation: a.c, answer: models, auth: none, validate: off}\n"
    ).routes
    assert (plain.public, plain.validate) == (False, "strict")
    assert (open_one.public, open_one.validate) == (True, "off")


def test_policies_keep_their_order_options_and_places():
    made = load_routes(
        "  - operation: a.b\n    answer: models\n    policies:\n"
        "      - max_body: 1MB\n      - other: {x: [1]}\n"
    )
    policies = made.routes[0].policies
    assert [(p.name, p.options) for p in policies] == [("max_body", "1MB"), ("other", {"x": [1]})]
    assert made.source.place(policies[1].at) == (8, 16)
    assert made.source.place(policies[1].at, key=True) == (8, 9)


def test_a_spec_has_mounts_carriers_and_a_plain_dialect():
    made = load_routes(
        "  - {operation: a.b, answer: models}\n",
        "a: {document: a.yaml}, b: {document: b.yaml, mount: /x, dialect: openai},"
        " c: {document: c.yaml, mount: [/x, /y], token: [bearer, {query: key}]}",
    )
    a, b, c = made.specs.values()
    assert (a.dialect, a.mount, a.token) == ("plain", (), ())
    assert (b.dialect, b.mount) == ("openai", ("/x",))
    assert (c.mount, c.token) == (("/x", "/y"), ("bearer", {"query": "key"}))


def token(text):
    made = config(f"tokens: [{{name: a, sha256: {'ab' * 32}, {text}}}]\n")
    return made.tokens["ab" * 32]


def moment(*parts):
    return datetime(*parts, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("said", "expires"),
    [
        ('"2027-01-31"', moment(2027, 2, 1)),
        ("2027-01-31", moment(2027, 2, 1)),
        ("2028-02-29", moment(2028, 3, 1)),
        ('"2027-01-31T10:00:00"', moment(2027, 1, 31, 10)),
        ('"2027-01-31 10:00:00"', moment(2027, 1, 31, 10)),
        ('"2027-01-31T10:00:00Z"', moment(2027, 1, 31, 10)),
        ('"2027-01-31T10:00:00+02:00"', moment(2027, 1, 31, 8)),
        ('"2027-01-31T10:00"', moment(2027, 1, 31, 10)),
    ],
)
def test_a_token_expires_at_the_end_of_a_day_or_at_a_moment(said, expires):
    assert token(f"expires: {said}").expires == expires


def test_a_token_may_end_at_the_end_of_time():
    assert token('expires: "9999-12-31"').expires >= moment(9999, 12, 30)


def test_the_models_of_a_token_are_all_none_or_some():
    assert token("models: []").models == ()
    assert token('models: [a, "b*"]').models == ("a", "b*")
    assert config(f"tokens: [{{name: a, sha256: {'ab' * 32}}}]\n").tokens["ab" * 32].models is None


def test_the_digest_of_a_token_may_be_digits_only():
    """A digest that YAML takes for a number is still a digest, when it is quoted."""
    assert config(f'tokens: [{{name: a, sha256: "{"12" * 32}"}}]\n').tokens["12" * 32].name == "a"


def test_an_empty_text_is_one_problem():
    findings = Findings()
    assert load("", "f", Path(), {}, findings)[0] is None
    assert [p.code for p in findings.problems] == ["MW102"]


def test_a_value_that_could_not_be_read_is_not_found_missing_as_well():
    assert errors("server:\n  workers: ${N}\n  listen: ${L}\n") == [
        (5, 12, "MW005"),
        (6, 11, "MW005"),
    ]
