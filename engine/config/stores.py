"""`stores:` of gateway.yaml."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

from msgspec import Struct

from engine.config import keys
from engine.config.keys import default
from engine.config.likely_value import plain
from engine.config.tls import tls_files
from engine.source.problem import Findings, Source
from engine.values.trees import Section

SQLITE = "sqlite:///"
"""The scheme of a URL of SQLite; the path of the file follows it."""
_RECORDS = (SQLITE, "postgresql+psycopg://")
_COUNTERS = re.compile(r"(rediss?(\+sentinel|\+cluster)?|unix)://")
_REDIS_URL = "redis://host:6379/0"


class RedisTls(Struct, frozen=True):
    """TLS to the servers of the counters. Files are absolute paths."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None


class SentinelLogin(Struct, frozen=True):
    """The user and password for Sentinels."""

    user: str | None = None
    password: str | None = None


class RedisConfig(Struct, frozen=True):
    """Connections to the servers of the counters, and the `prefix` of their keys. `away_after` is
    in seconds."""

    away_after: float = default("stores.redis.away_after")
    connections: int = default("stores.redis.connections")
    prefix: str = default("stores.redis.prefix")
    tls: RedisTls = RedisTls()
    sentinel: SentinelLogin = SentinelLogin()


class Stores(Struct, frozen=True):
    """The stores: URLs in the form of SQLAlchemy and Redis; `counters` may be `memory`.

    `counters_timeout` is in seconds. `on_store_failure` is `local`, `allow` or `deny`; `machines`
    is the number of gateways that share the counters, for `local`. `retention` None: for ever.
    """

    records: str | None = None
    counters: str = default("stores.counters")
    counters_timeout: float = default("stores.counters_timeout")
    on_store_failure: str = default("stores.on_store_failure")
    machines: int = default("stores.machines")
    redis: RedisConfig = RedisConfig()
    token_ttl: float = default("stores.token_ttl")
    end_revoked: bool = default("stores.end_revoked")
    journal: FilePath = FilePath(default("stores.journal"))
    retention: float | None = None


def read_stores(section: Section, folder: FilePath, source: Source, findings: Findings) -> Stores:
    """`stores:`, its paths made absolute from the config's folder."""
    values = keys.fill(section, "stores")
    values["records"] = _records(values.get("records"), folder, source, findings)
    values["journal"] = folder / values["journal"]
    if values["counters"] != "memory" and not _COUNTERS.match(values["counters"]):
        host = plain(values["counters"])
        has_port = re.fullmatch(r"[\w.-]+:\d+(/\d+)?", host) is not None
        hint = f"write redis://{host}" if has_port else f"memory, or {_REDIS_URL}"
        findings.error(
            source, ("stores", "counters"), "MW104", "'counters' is not a supported store", hint
        )
    values["redis"] = _redis(section.get("redis", {}), values["counters"], folder, source, findings)
    for name, seconds in (
        ("stores.counters_timeout", values["counters_timeout"]),
        ("stores.redis.away_after", values["redis"].away_after),
    ):
        if not 0.001 <= seconds <= 60:
            at = tuple(name.split("."))
            message = f"'{at[-1]}' is {seconds:g}s: requests may wait that long for an answer"
            hint = f"write 1ms to 60s; {keys.find(name).schema['default']} if in doubt"
            findings.error(source, at, "MW104", message, hint)
    return Stores(**values)


def _redis(
    section: Section, url: str, folder: FilePath, source: Source, findings: Findings
) -> RedisConfig:
    values, at = keys.fill(section, "stores.redis"), ("stores", "redis")
    files = tls_files(section.get("tls", {}), (*at, "tls"), folder, source, findings)
    if section and url == "memory":
        message = "'redis' has no effect: limits are counted in memory"
        hint = f"write counters: {_REDIS_URL}, or remove 'redis'"
        findings.error(source, at, "MW395", message, hint)
    for key, is_used, hint in (
        ("tls", url.startswith("rediss"), "rediss:// in place of redis://"),
        ("sentinel", "+sentinel:" in url, "redis+sentinel://host:26379/master"),
    ):
        if key in section and not is_used and url != "memory":
            message = f"'{key}' has no effect: the URL in 'counters' does not use it"
            findings.error(source, (*at, key), "MW395", message, f"write {hint}, or remove it")
    login = SentinelLogin(**section.get("sentinel", {}))
    return RedisConfig(**{**values, "tls": RedisTls(**files), "sentinel": login})


def _records(url: str | None, folder: FilePath, source: Source, findings: Findings) -> str | None:
    if url is None or url.startswith(_RECORDS):
        path = url.removeprefix(SQLITE) if url is not None else ""
        return f"{SQLITE}{folder / path}" if url is not None and url.startswith(SQLITE) else url
    hint = "sqlite:///var/modelway.db, or postgresql+psycopg://user@host/name"
    if (scheme := url.partition("://")[0]) in ("postgres", "postgresql"):
        hint = f"write postgresql+psycopg:// in place of {scheme}://"
    elif plain(url) and re.search(r"\.(db|sqlite3?)$", url) and "://" not in url:
        hint = f"write sqlite:///{url}"
    at = ("stores", "records")
    findings.error(source, at, "MW104", "'records' is not a supported database", hint)
    return url
