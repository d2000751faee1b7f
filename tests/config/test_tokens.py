"""`tokens:` as callers."""

from datetime import UTC, datetime

import pytest

from engine.values import quota
from tests.support.configs import read_config, read_errors

DIGEST = "ab" * 32


def token(text):
    return read_config(f"tokens: [{{name: a, sha256: {DIGEST}, {text}}}]\n").tokens[DIGEST]


def moment(*parts):
    return datetime(*parts, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "expires"),
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
def test_a_token_expires_at_the_end_of_a_day_or_at_a_moment(text, expires):
    assert token(f"expires: {text}").expires == expires


def test_a_token_has_a_priority_or_none():
    assert token("priority: low").priority == "low"
    assert token("team: a").priority == ""


def test_a_token_may_end_at_the_end_of_time():
    assert token('expires: "9999-12-31"').expires >= moment(9999, 12, 30)


def test_the_models_of_a_token_are_all_none_or_some():
    assert token("models: []").models == ()
    assert token('models: [a, "b*"]').models == ("a", "b*")
    assert token("ips: []").models is None


def test_the_digest_of_a_token_may_be_digits_only():
    """A digest that YAML takes for a number is still a digest, when it is quoted."""
    assert (
        read_config(f'tokens: [{{name: a, sha256: "{"12" * 32}"}}]\n').tokens["12" * 32].name == "a"
    )


def test_limits_of_a_token_are_quotas():
    assert token(
        "rate: 60/1m, token_budget: 5000/1d, budget: 20 USD/30d, concurrency: 3"
    ).limits == (
        quota.count("requests", "60/1m"),
        quota.count("tokens", "5000/1d"),
        quota.money("20 USD/30d", "USD"),
        quota.Quota("concurrency", 3),
    )


def test_the_networks_of_a_token_are_all_or_some():
    assert token("models: []").ips is None
    assert token("ips: [10.0.0.0/8, '::1']").ips == ("10.0.0.0/8", "::1")


def test_a_network_with_host_bits_is_an_error_at_its_entry():
    text = f"tokens: [{{name: a, sha256: {DIGEST}, ips: ['::1', 10.0.0.1/8]}}]\n"
    assert read_errors(text) == [(4, text.index("10.0.0.1") + 1, "MW104")]
