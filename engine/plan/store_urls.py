"""Checks of the URLs of stores, by the stores' own parsers; no connection is opened.

A store that the config does not use is not imported.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from engine.config.stores import Stores
from engine.source.problem import Path

PORT = "the port is not a number from 0 to 65535"


def faults(stores: Stores) -> list[tuple[Path, str]]:
    """The problems with their paths. Messages hold no URL: it may hold a password."""
    problems: list[tuple[Path, str]] = []
    if stores.records is not None and (why := _of_records(stores.records)):
        problems.append((("stores", "records"), why))
    if stores.counters != "memory" and (why := _of_counters(stores.counters)):
        problems.append((("stores", "counters"), why))
    if stores.records is not None and stores.journal.is_file():
        problems.append((("stores", "journal"), "the journal is a folder, and this is a file"))
    return problems


def _of_records(url: str) -> str:
    from engine.stores.records.database import open_database
    from engine.stores.records.failures import BadUrl

    try:
        open_database(url).close()
    except BadUrl as error:
        return str(error)
    return "" if url.startswith("sqlite:") or _has_port(url) else PORT


def _of_counters(url: str) -> str:
    from engine.stores.counters.redis import RedisCounters

    if not _has_port(url):
        return PORT
    if url.startswith("unix:") and not urlsplit(url).path:
        return "the path of the socket is missing; write unix:///run/redis.sock"
    try:
        RedisCounters(url)
    except ValueError as error:
        return str(error)
    return ""


def _has_port(url: str) -> bool:
    """Whether the URL has no port, or a valid one."""
    try:
        _ = urlsplit(url).port
    except ValueError:
        return False
    return True
