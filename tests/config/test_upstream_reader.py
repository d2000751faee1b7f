"""`upstreams:` as values: credentials, timeouts, failures, headers, TLS."""

import pytest

from engine.config.json_schema import schema
from engine.config.upstreams import BreakerConfig, HeaderChanges, Retry, Tls
from engine.credentials.interface.fixed import HeaderCredential, QueryCredential
from engine.upstream.client.deadlines import Timeouts
from tests.support.configs import read_config


def upstream(text):
    return read_config(f"upstreams: {{main: {{url: http://host, {text}}}}}\n").upstreams["main"]


def test_an_upstream_has_defaults():
    main = upstream("pool: 100")
    assert (main.dialect, main.credentials, main.forward_headers) == ("", (), ())
    assert (main.proxy, main.tls, main.at) == (None, Tls(), ("upstreams", "main"))
    assert (main.retry, main.breaker, main.headers) == (Retry(), BreakerConfig(), HeaderChanges())
    assert main.heartbeat is None


def test_an_upstream_url_loses_its_last_slash():
    config = read_config("upstreams: {main: {url: 'http://host/v1/'}}\n")
    assert config.upstreams["main"].url == "http://host/v1"


def test_timeouts_are_seconds_and_absent_ones_have_their_defaults():
    timeouts = upstream("timeouts: {connect: 1s, total: 5m}").timeouts
    assert timeouts == {"connect": 1, "first_byte": 60, "idle": 60, "total": 300}
    assert upstream("pool: 1").timeouts == Timeouts()._asdict()


@pytest.mark.parametrize(
    ("text", "credential"),
    [
        ("{bearer: abc}", HeaderCredential("bearer", "authorization", "Bearer abc")),
        ("{header: X-Api-Key, value: abc}", HeaderCredential("header", "x-api-key", "abc")),
        ("{query: Key, value: abc}", QueryCredential("query", "Key", "abc")),
    ],
)
def test_a_credential_is_a_header_or_a_query_parameter(text, credential):
    assert upstream(f"credential: {text}").credentials == (credential,)


def test_several_credentials_keep_their_order():
    credentials = upstream("credentials: [{bearer: b}, {query: k, value: a}]").credentials
    assert [credential.value for credential in credentials] == ["Bearer b", "a"]


def test_a_credential_knows_the_variables_of_its_upstream():
    more = "provider: bedrock, variables: {region: eu-west-1}, credential: {aws: {}}"
    [credential] = upstream(more).credentials
    assert credential.region == "eu-west-1"


def test_a_credential_never_shows_itself():
    assert "abc" not in repr(upstream("credential: {bearer: abc}"))


def test_a_credential_of_digits_only_stays_a_string():
    config = read_config(
        'upstreams: {main: {url: http://host, credential: {bearer: "${KEY}"}}}\n', {"KEY": "007"}
    )
    assert config.upstreams["main"].credentials[0].value == "Bearer 007"


def test_retry_and_breaker_are_in_seconds_and_classes_of_failures():
    main = upstream(
        "retry: {attempts: 3, on: [connect, 429, '5xx'], budget: 0.5, max_wait: 250ms},"
        " breaker: {failures: 2, window: 1m, cooldown: 1.5s}, heartbeat: 15s"
    )
    assert main.retry == Retry(3, frozenset({"connect", "429", "5xx"}), 0.5, 0.25)
    assert main.breaker == BreakerConfig(2, 60.0, 1.5)
    assert main.heartbeat == 15.0


def test_absent_keys_of_retry_and_breaker_have_their_defaults():
    assert upstream("retry: {on: []}").retry == Retry(on=frozenset())
    assert upstream("breaker: {failures: 1}").breaker == BreakerConfig(1)


def test_a_heartbeat_of_zero_is_none():
    assert upstream("heartbeat: 0s").heartbeat is None


def test_every_class_of_failures_may_be_named_and_no_other():
    on = schema()["$defs"]["upstream"]["properties"]["retry"]["properties"]["on"]["items"]
    assert set(on["anyOf"][0]["enum"]) == Retry().on


def test_headers_are_changed_by_names_in_lower_case():
    headers = upstream("headers: {set: {X-A: '1'}, add: {X-B: b}, remove: [X-C, x-d]}").headers
    assert headers == HeaderChanges({"x-a": "1"}, {"x-b": "b"}, frozenset({"x-c", "x-d"}))


def test_an_empty_proxy_differs_from_an_absent_one():
    assert upstream("proxy: ''").proxy == ""


def test_files_of_tls_are_found_from_the_folder_of_the_config(tmp_path):
    (tmp_path / "ca.pem").write_text("x")
    text = "upstreams: {main: {url: https://host, tls: {ca: ca.pem, verify: false}}}\n"
    tls = read_config(text, folder=tmp_path).upstreams["main"].tls
    assert tls == Tls(ca=str(tmp_path / "ca.pem"), verify=False)
