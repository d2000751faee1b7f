"""Whether the places of stores can be used, judged by the stores themselves; nothing is opened.

What a deployment does not use is not imported.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from engine.config.model import Stores
from engine.source.problem import Path

PORT = "the port is no number from 0 to 65535"


def faults(stores: Stores) -> list[tuple[Path, str]]:
    """What is wrong, with its place. No URL is in the words: it may hold a password."""
    found: list[tuple[Path, str]] = []
    if stores.records is not None and (why := _of_records(stores.records)):
        found.append((("stores", "records"), why))
    if stores.counters != "memory" and (why := _of_counters(stores.counters)):
        found.append((("stores", "counters"), why))
    if stores.records is not None and stores.journal.is_file():
        found.append((("stores", "journal"), "the journal is a folder, and this is a file"))
    return found


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
    """Whether the port, where there is one, is one."""
    try:
        _ = urlsplit(url).port
    except ValueError:
        return False
    return True
