"""URLs of PostgreSQL with several hosts, of which one is the primary.


The hosts are in libpq's form (`postgresql://user@db1:5432,db2:5432/name`), or in the query
(`?host=db1,db2`, or `?host=db1:5432&host=db2:5432`). The driver tries the hosts in their order, and
uses the first one that `target_session_attrs` accepts: by default the one that can be written.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from sqlalchemy.engine import URL, make_url

from engine.stores.database.failures import BadUrl

PRIMARY = "read-write"
"""The value of `target_session_attrs` for a server that can be written."""
_SEVERAL = re.compile(r"([^:/]+://)((?:[^/?]*@)?)([^/?@]*,[^/?@]*)(/[^?]*)?(?:\?(.*))?", re.DOTALL)
_HOST = re.compile(r"(\[[^]]+\]|[^:\[\]]+)(?::(\d+))?")


def parse_url(url: str) -> URL:
    """The URL, with several hosts as its query. Raises BadUrl, and what `make_url` raises."""
    match = _SEVERAL.fullmatch(url)
    if match is not None:
        scheme, user, hosts, path, query = match.groups()
        parts = [_HOST.fullmatch(host) for host in hosts.split(",")]
        if not all(parts):
            raise ValueError("a host or a port is invalid")
        names = ",".join(part[1].strip("[]") for part in parts if part)
        ports = ",".join(part[2] or "5432" for part in parts if part)
        parameters = [f"host={quote(names, safe=',:')}", f"port={ports}", *filter(None, [query])]
        url = f"{scheme}{user}{path or '/'}?{'&'.join(parameters)}"
    parsed = make_url(url)
    ports_named = [str(parsed.port or 0), *_values(parsed, "port")]
    if not all(port.isdigit() and int(port) < 65536 for port in ports_named):
        raise BadUrl("the port is not a number from 0 to 65535")
    return parsed


def hosts_of(url: URL) -> list[str]:
    """The hosts in the query of a URL, with their ports."""
    hosts = _values(url, "host")
    ports = _values(url, "port")
    if len(ports) != len(hosts):
        return hosts
    host_texts = (f"[{host}]" if ":" in host else host for host in hosts)
    return [f"{host}:{port}" for host, port in zip(host_texts, ports, strict=True)]


def with_primary(url: URL) -> URL:
    """The URL; with `target_session_attrs=read-write` if it names several hosts."""
    if len(hosts_of(url)) < 2 or "target_session_attrs" in url.query:
        return url
    return url.update_query_dict({"target_session_attrs": PRIMARY})


def display(url: URL) -> str:
    """The URL without its query, which may contain a password, but with the hosts in it."""
    hosts = ",".join(hosts_of(url))
    plain = url.set(query={}, host=None if hosts else url.host)
    text = plain.render_as_string(hide_password=True)
    if not hosts:
        return text
    before, _, after = text.partition("://")
    user, slash, path = after.partition("/")
    return f"{before}://{user if '@' in user or not user else user + '@'}{hosts}{slash}{path}"


def _values(url: URL, key: str) -> list[str]:
    value = url.query.get(key, ())
    values = (value,) if isinstance(value, str) else value
    return [part for item in values for part in item.split(",") if part]
