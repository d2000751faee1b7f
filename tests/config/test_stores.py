"""`stores:` as values."""

from pathlib import Path

import pytest

from engine.config.stores import Stores
from tests.support.configs import read_config, read_errors


def stores(text):
    return read_config(f"stores: {{{text}}}\n").stores


def test_stores_have_defaults():
    assert stores("") == Stores(journal=Path("/folder") / Stores().journal)


def test_durations_of_stores_are_seconds():
    values = stores("counters_timeout: 100ms, token_ttl: 2m, retention: 9d")
    assert (values.counters_timeout, values.token_ttl) == (0.1, 120.0)
    assert values.retention == 9 * 86_400


@pytest.mark.parametrize(
    ("records", "url"),
    [
        ("sqlite:///var/x.db", "sqlite:////folder/var/x.db"),
        ("sqlite:////var/x.db", "sqlite:////var/x.db"),
        ("postgresql+psycopg://user@host/name", "postgresql+psycopg://user@host/name"),
    ],
)
def test_a_relative_path_of_sqlite_starts_at_the_folder_of_the_config(records, url):
    assert stores(f"records: '{records}'").records == url


@pytest.mark.parametrize(
    "counters",
    [
        *("memory", "redis://host:6379/0", "unix:///run/redis.sock"),
        *("redis+sentinel://a,b:1/limits", "rediss+cluster://a:1,b:2"),
    ],
)
def test_counters_are_in_memory_or_in_redis(counters):
    assert stores(f"counters: '{counters}'").counters == counters


@pytest.mark.parametrize(
    "entry",
    ["records: 'mysql://host/x'", "counters: 'memcached://host'", "counters_timeout: 61s"],
)
def test_a_store_that_is_not_supported_is_an_error_at_its_value(entry):
    column = len("stores: {") + entry.index(": ") + 3
    assert read_errors(f"stores: {{{entry}}}\n") == [(4, column, "MW104")]


@pytest.mark.parametrize("prefix", ["a{b}", "*", "", "x" * 65, "a b"])
def test_a_prefix_of_keys_has_only_characters_without_a_meaning_in_redis(prefix):
    text = "stores: {counters: 'redis://h', redis: {prefix: "
    assert read_errors(f"{text}'{prefix}'}}}}\n") == [(4, len(text) + 1, "MW104")]
    assert stores("counters: 'redis://h', redis: {prefix: a.b-c_d:1}").redis.prefix == "a.b-c_d:1"


def test_the_time_after_which_redis_is_away_is_bounded():
    text = "counters: 'redis://h', redis: {away_after: "
    assert read_errors(f"stores: {{{text}61s}}}}\n") == [(4, len(text) + 10, "MW104")]
    assert stores(f"{text}60s}}").redis.away_after == 60.0


@pytest.mark.parametrize("counters", ["", "counters: memory, "])
@pytest.mark.parametrize("keys", ["away_after: 1s", "connections: 9, tls: {}"])
def test_keys_of_redis_are_errors_while_limits_are_counted_in_memory(counters, keys):
    column = len(f"stores: {{{counters}redis: ") + 1
    assert read_errors(f"stores: {{{counters}redis: {{{keys}}}}}\n") == [(4, column, "MW395")]


def test_keys_that_the_url_of_redis_does_not_use_are_errors():
    tls = "counters: 'redis://h', redis: {tls: {}}"
    sentinel = "counters: 'rediss://h', redis: {sentinel: {password: x}}"
    for text, word in ((tls, "tls"), (sentinel, "sentinel")):
        column = len("stores: {") + text.index(f"{word}: ") + len(word) + 3
        assert read_errors(f"stores: {{{text}}}\n") == [(4, column, "MW395")]
