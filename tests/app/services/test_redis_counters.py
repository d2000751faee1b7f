"""The options of connections to Redis, as a config says them."""

from __future__ import annotations

from engine.app.services.redis_counters import open_redis, redis_options
from engine.config.stores import RedisConfig, RedisTls, SentinelLogin, Stores
from engine.stores.counters.redis.address import RedisOptions
from engine.stores.counters.redis.counters import ClusterCounters, RedisCounters


def test_every_key_of_redis_is_an_option():
    redis = RedisConfig(
        away_after=3.0,
        connections=4,
        prefix="staging",
        tls=RedisTls("/ca.pem", "/a.pem", "/a.key"),
        sentinel=SentinelLogin("gateway", "x"),
    )
    assert redis_options(Stores(counters_timeout=1.5, redis=redis)) == RedisOptions(
        timeout=1.5,
        away_after=3.0,
        connections=4,
        prefix="staging",
        ca="/ca.pem",
        certificate="/a.pem",
        key="/a.key",
        sentinel_user="gateway",
        sentinel_password="x",
    )


def test_options_without_a_config_are_those_of_an_empty_config():
    assert redis_options(Stores()) == RedisOptions()


def test_a_url_of_a_cluster_has_counters_of_a_cluster():
    for url, kind in (("redis://h", RedisCounters), ("rediss+cluster://h", ClusterCounters)):
        store = open_redis(Stores(counters=url), None)
        assert type(store) is kind
        store.close()
