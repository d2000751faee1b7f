"""Credentials never show, whatever form they have."""

import pytest

from engine.offline.rehearsal.redaction import Redaction
from tests.support.rehearsing import planned

UPSTREAMS = """version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {main: {url: "https://x", %s}}
routes: [{operation: shop.show, to: [{upstream: main}]}]
"""


def redaction(folder, said):
    return Redaction(planned(folder, UPSTREAMS % said).plan.config)


@pytest.mark.parametrize(
    ("said", "header", "expected"),
    [
        ('credential: {bearer: "${MAIN_KEY}"}', "authorization", "Bearer ${MAIN_KEY}"),
        ('credential: {bearer: "${UNSET:-sk-default}"}', "authorization", "Bearer ${UNSET}"),
        ("credential: {bearer: sk-literal}", "authorization", "Bearer ***"),
        ("credential: {header: x-k, value: abc def}", "x-k", "***"),
        ("credential: {header: x-k, value: ab}", "x-k", "***"),
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
def test_a_header_that_we_put_on_is_hidden(tmp_path, said, header, expected):
    made = redaction(tmp_path, said)
    upstream = made._config.upstreams["main"]
    pairs = [(c.name, c.value) for c in upstream.credentials]
    pairs += [*upstream.headers.set.items(), *upstream.headers.add.items()]
    shown = made.headers("main", [*pairs, ("idempotency-key", "kept")])
    assert shown == [*[(header, expected)] * len(pairs), ("idempotency-key", "kept")]


def test_a_credential_in_the_query_is_hidden(tmp_path):
    made = redaction(tmp_path, "credential: {query: api key, value: a/b}")
    shown = made.url("main", "https://x/v1?page=1&api%20key=a%2Fb")
    assert shown == "https://x/v1?page=1&api%20key=***"


def test_a_credential_is_hidden_wherever_it_is_repeated(tmp_path):
    made = redaction(tmp_path, "credential: {bearer: sk/literal}")
    assert made.text("at sk/literal and sk%2Fliteral") == "at *** and ***"
