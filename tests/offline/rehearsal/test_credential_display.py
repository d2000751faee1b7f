"""Credentials are displayed as their variable or as `***`."""

import pytest

from engine.offline.rehearsal.credential_display import CredentialDisplay
from tests.support.rehearsing import ENVIRON, planned

UPSTREAMS = """version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {main: {url: "https://x", %s}}
routes: [{operation: shop.show, to: [{upstream: main}]}]
"""


def config_of(folder, upstream):
    return planned(folder, UPSTREAMS % upstream).plan.config


def display(folder, upstream):
    return CredentialDisplay(config_of(folder, upstream))


@pytest.mark.parametrize(
    ("options", "header", "expected"),
    [
        ('credential: {bearer: "${MAIN_KEY}"}', "authorization", "Bearer ${MAIN_KEY}"),
        ('credential: {bearer: "${UNSET:-sk-default}"}', "authorization", "Bearer ${UNSET}"),
        ("credential: {bearer: sk-literal}", "authorization", "Bearer ***"),
        ("credential: {header: x-k, value: abc def}", "x-k", "***"),
        ("credential: {header: x-k, value: ab}", "x-k", "***"),
        ("credential: {basic: {user: a, password: literal-one}}", "authorization", "***"),
        ('credential: {header: x-k, value: "pre-${MAIN_KEY}"}', "x-k", "***"),
        (
            "credentials: [{bearer: one-secret}, {bearer: two-secret}]",
            "authorization",
            "Bearer ***",
        ),
        ("headers: {set: {x-auth: literal-one}}", "x-auth", "***"),
        ("headers: {add: {x-password: literal-one}}", "x-password", "***"),
    ],
)
def test_credential_headers_are_replaced(tmp_path, options, header, expected):
    config = config_of(tmp_path, options)
    upstream = config.upstreams["main"]
    pairs = [(c.name, c.value) for c in upstream.credentials]
    pairs += [*upstream.headers.set.items(), *upstream.headers.add.items()]
    headers = CredentialDisplay(config).headers("main", [*pairs, ("idempotency-key", "kept")])
    assert headers == [*[(header, expected)] * len(pairs), ("idempotency-key", "kept")]


def test_a_query_credential_is_replaced(tmp_path):
    credentials = display(tmp_path, "credential: {query: api key, value: a/b}")
    url = credentials.url("main", "https://x/v1?page=1&api%20key=a%2Fb")
    assert url == "https://x/v1?page=1&api%20key=***"


def test_credentials_in_text_are_replaced(tmp_path):
    credentials = display(tmp_path, "credential: {bearer: sk/literal}")
    assert credentials.text("at sk/literal and sk%2Fliteral") == "at *** and ***"


@pytest.mark.parametrize(
    "config",
    [
        UPSTREAMS % "transform: {request: {header: {set: {X-Token: a-secret-1}}, %s}}",
        UPSTREAMS % "" + "policies: [{transform: {request: {header: {add: {X-Token: x}}, %s}}}]",
    ],
    ids=["upstream", "policy"],
)
def test_secrets_of_transforms_are_replaced(tmp_path, config):
    text = config % "query: {set: {api-key: b-secret-1, page: c-public-1}}"
    credentials = CredentialDisplay(planned(tmp_path, text).plan.config)
    headers = credentials.headers("main", [("x-token", "a-secret-1"), ("x-a", "b-secret-1")])
    assert headers == [("x-token", "***"), ("x-a", "***")]
    url = credentials.url("main", "https://x/v1?page=c-public-1&api-key=b-secret-1")
    assert url == "https://x/v1?page=c-public-1&api-key=***"


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("${MAIN_KEY}", "x: %s", "x: ${MAIN_KEY}"),
        ("${UNSET:-of-the-file}", "x: of-the-file", "x: ${UNSET}"),
        ("Bearer ${MAIN_KEY}", "x: Bearer %s", "x: Bearer ***"),
        ("{request.id}-${MAIN_KEY}", "x: 17-%s", "x: 17***"),
        ("literal-one", "x: literal-one %s", "x: literal-one %s"),
    ],
)
@pytest.mark.parametrize(
    "where",
    ["header: {set: {x-purpose: %s}}", "body: {set: {colour: %s}}", "query: {set: {q: %s}}"],
)
def test_what_a_variable_of_a_transform_stands_for_is_not_shown(
    tmp_path, where, value, text, expected
):
    transform = "transform: {request: {%s}}" % (where % f'"{value}"')
    config = planned(tmp_path, UPSTREAMS % transform).plan.config
    secret = ENVIRON["MAIN_KEY"]
    display_text = CredentialDisplay(config).text(text.replace("%s", secret))
    assert display_text == expected.replace("%s", secret)
