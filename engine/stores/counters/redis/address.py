"""URLs of Redis servers, Sentinels and clusters, parsed to the arguments of redis-py's connections.

redis-py parses the user, the password, the database and the query, which has its own options.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import redis
from gevent import monkey
from msgspec import Struct
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection
from redis.retry import Retry

FORMS = (
    "expected redis://[[user]:password@]host[:port][/db], rediss://... (TLS), "
    "unix:///path/to/socket, redis+sentinel://host[:port],host.../master[/db], "
    "redis+cluster://host[:port],host..., rediss+sentinel://... or rediss+cluster://...; "
    "special characters of a password are percent-encoded"
)
_PORT = "the port is not a number from 0 to 65535"
_SOCKET = "the path of the socket is missing; write unix:///run/redis.sock"
_MASTER = "the name of the master is missing; write redis+sentinel://host:26379/mymaster"
_HOSTS = "this form has one host; write redis+sentinel:// or redis+cluster:// for several"
_DATABASE = "a cluster has one database; leave out the path"
_SEVERAL = re.compile(r"(rediss?)\+(sentinel|cluster)://([^/?#]*)(/[^?#]*)?(\?[^#]*)?")
_SENTINEL_PORT = 26379


class RedisOptions(Struct, frozen=True):
    """Options that are not in a URL. `timeout` and `away_after` are seconds (see `CallDeadlines`),
    `connections` is the largest number of a worker to each server. `prefix` begins all keys. `ca`,
    `certificate` and `key` are files in PEM for TLS; `sentinel_user` and `sentinel_password` log in
    to Sentinels."""

    timeout: float = 5.0
    away_after: float = 2.0
    connections: int = 50
    prefix: str = "modelway"
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    sentinel_user: str | None = None
    sentinel_password: str | None = None

    @property
    def tag(self) -> str:
        """The hash tag of all keys in a server, which is no node of a cluster."""
        return f"{{{self.prefix}}}"

    def tag_of(self, partition: int) -> str:
        """The hash tag of the keys of a partition in a cluster."""
        return f"{{{self.prefix}:{partition}}}"


DEFAULTS = RedisOptions()


Connection = Any
"""A connection of redis-py, whose methods have no types."""


class Endpoint(Struct, frozen=True):
    """One server: redis-py's connection class and its arguments."""

    connection_class: type[AbstractConnection]
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        """The address, without the password."""
        path = self.arguments.get("path")
        return path or f"{self.host}:{self.port}"

    @property
    def host(self) -> str:
        return str(self.arguments.get("host", "localhost"))

    @property
    def port(self) -> int:
        return int(self.arguments.get("port", 6379))

    def at(self, host: str, port: int) -> Endpoint:
        """The endpoint of another address, with the same arguments."""
        return Endpoint(self.connection_class, {**self.arguments, "host": host, "port": port})

    def connection(self) -> Connection:
        """A connection of redis-py that is not connected yet."""
        return self.connection_class(**self.arguments)

    def client(self, more: dict[str, Any]) -> redis.Redis:
        """A client of redis-py, with its pool; `more` are further arguments of connections."""
        arguments = {**self.arguments, **more}
        pool = redis.ConnectionPool(connection_class=self.connection_class, **arguments)
        return redis.Redis(connection_pool=pool)


class Address(Struct, frozen=True):
    """A parsed URL: `kind` is `server`, `sentinel` or `cluster`. `endpoints` are the server, the
    arguments for the master (one per Sentinel, with its address), or nodes of a cluster.
    `sentinels` are the Sentinels, `master` is the name of the master that they are asked for."""

    kind: str
    endpoints: tuple[Endpoint, ...]
    sentinels: tuple[Endpoint, ...] = ()
    master: str = ""


def parse(url: str, options: RedisOptions) -> Address:
    """The address of a URL. Raises ValueError, whose message never has the URL: it may contain a
    password."""
    try:
        several = _SEVERAL.fullmatch(url)
        address = _one(url, options) if several is None else _several(several, options)
        for endpoint in (*address.endpoints, *address.sentinels):
            endpoint.connection()
    except _WrongAddress as error:
        raise ValueError(str(error)) from None
    except (ValueError, TypeError):
        raise ValueError(FORMS) from None
    return address


class _WrongAddress(Exception):
    """A URL of a known form with an invalid part; the message is for the user."""


def _one(url: str, options: RedisOptions) -> Address:
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError
    if "," in urlsplit(url).netloc.rpartition("@")[2]:
        raise _WrongAddress(_HOSTS)
    return Address("server", (_endpoint(url, options),))


def _several(url: re.Match[str], options: RedisOptions) -> Address:
    scheme, kind, authority, path, query = (part or "" for part in url.groups())
    login, at, hosts = authority.rpartition("@")
    steps = path.strip("/").split("/")
    if kind == "cluster":
        if steps != [""]:
            raise _WrongAddress(_DATABASE)
        database, master = "", ""
    else:
        master, database = steps[0], "/".join(steps[1:])
        if not master:
            raise _WrongAddress(_MASTER)
        if not re.fullmatch(r"\d{0,5}", database):
            raise ValueError
    names = hosts.split(",")
    if "" in names:
        raise ValueError
    endpoints = tuple(
        _endpoint(f"{scheme}://{login}{at}{host}/{database}{query}", options) for host in names
    )
    if kind == "cluster":
        return Address(kind, endpoints)
    sentinels = tuple(_sentinel(f"{scheme}://{host}", options) for host in names)
    return Address(kind, endpoints, sentinels, master)


def _sentinel(url: str, options: RedisOptions) -> Endpoint:
    endpoint = _endpoint(url, options)
    login = {"username": options.sentinel_user, "password": options.sentinel_password}
    arguments = {"port": _SENTINEL_PORT, **endpoint.arguments}
    return Endpoint(
        endpoint.connection_class, arguments | {name: text for name, text in login.items() if text}
    )


def _endpoint(url: str, options: RedisOptions) -> Endpoint:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise (_WrongAddress(_PORT) if "range" in str(error) else error) from None
    if parts.scheme != "unix" and not re.fullmatch(r"/?\d*", parts.path):
        raise ValueError  # redis-py would use database 0
    # `Late` limits the time of a call, except in processes without gevent's monkey patches.
    blocking = None if monkey.is_module_patched("socket") else options.timeout
    more: dict[str, Any] = {"socket_timeout": blocking, "socket_connect_timeout": blocking}
    if parts.scheme != "unix":
        more["socket_keepalive"] = True
    if parts.scheme == "rediss":
        files = {
            "ssl_ca_certs": options.ca,
            "ssl_certfile": options.certificate,
            "ssl_keyfile": options.key,
        }
        more |= {name: file for name, file in files.items() if file is not None}
    pool = redis.ConnectionPool.from_url(url, protocol=2, retry=Retry(NoBackoff(), 0), **more)
    endpoint = Endpoint(pool.connection_class, dict(pool.connection_kwargs))
    if parts.scheme == "unix" and not endpoint.arguments.get("path"):
        raise _WrongAddress(_SOCKET)
    return endpoint
