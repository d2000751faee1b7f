"""Plugins of models become policies of the file, and `cors`, if all models have the same ones. A
guard that cannot be imported is noted with the models that lack it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, TypeVar

from msgspec import Struct

from engine.offline.imports.imported_config import Entry, ImportedConfig
from engine.offline.imports.sources.kong.entities import Entity, Plugin, listed
from engine.offline.imports.sources.kong.headers import SIDES, read_headers
from engine.values.client_address import Network
from engine.values.trees import Section

_N = TypeVar("_N", IPv4Network, IPv6Network)
_WINDOWS = {"second": "1s", "minute": "1m", "hour": "1h", "day": "day", "month": "month"}
_WINDOWS |= {"year": "365d"}
_UNITS = {"megabytes": "MiB", "kilobytes": "KiB", "bytes": "B"}
_BY = {"consumer": "token", "credential": "token", "service": "all"}
_ORIGIN = re.compile(r"\*|https?://[a-z0-9._-]+(:[0-9]{1,5})?")
_REASONS = {
    "key-auth": "every route asks for a token; keys of consumers are under tokens",
    "prometheus": "metrics are served at telemetry.listen",
    "correlation-id": "each request has an x-request-id",
    **dict.fromkeys(("opentelemetry", "zipkin"), "write telemetry.traces"),
    **dict.fromkeys(("file-log", "http-log", "tcp-log", "udp-log"), "write telemetry.access_log"),
    "ai-prompt-guard": "`deny` refuses by values of a request",
    "ai-prompt-decorator": "`transform` prepends and appends messages",
    "ai-rate-limiting-advanced": "write a token_budget or a spend_limit under policies",
    "rate-limiting-advanced": "write a rate_limit under policies",
}
_NO_GUARDS = frozenset(
    {"key-auth", "cors", "request-transformer", "response-transformer", "correlation-id"}
    | {"prometheus", "opentelemetry", "zipkin", "datadog", "statsd", "syslog", "loggly"}
    | {"http-log", "file-log", "tcp-log", "udp-log", "proxy-cache", "ai-semantic-cache"}
    | {"ai-prompt-decorator", "ai-prompt-template"}
)
"""Plugins that protect nothing: no warning if they are missing."""


class Guarded(Struct, frozen=True):
    """A route, or a service or the file without one, by which callers reach models."""

    entity: Entity
    models: list[str]


def read_policies(
    draft: ImportedConfig, entities: Iterable[Entity], guarded: Sequence[Guarded], ai: Sequence[str]
) -> None:
    """Add the policies, and note the other plugins."""
    plugins = [plugin for entity in entities for plugin in entity.plugins]
    names = [*_POLICIES, *_OTHERS, *(plugin.name for plugin in plugins if plugin.name not in ai)]
    for name in dict.fromkeys(names):
        effective = [each.entity.effective((name,)) for each in guarded]
        problem = _problem(name, effective)
        if not problem and effective[0] is not None:
            try:
                _carry(draft, effective[0], guarded)
            except ValueError as error:
                problem = str(error)
        if problem:
            for plugin in (plugin for plugin in plugins if plugin.name == name):
                models = [g.models for g, p in zip(guarded, effective, strict=True) if p is plugin]
                _note(draft, plugin, problem, [name for names in models for name in names])


def _problem(name: str, effective: Sequence[Plugin | None]) -> str:
    """The reason why a plugin cannot be a policy of all models, "" if it can."""
    if name not in _POLICIES and name not in _OTHERS:
        return _REASONS.get(name, "there is no counterpart")
    plugins = [plugin for plugin in effective if plugin is not None]
    if not plugins:
        return "there are no models where it applies"
    if len(plugins) < len(effective) or any(p.config != plugins[0].config for p in plugins):
        return "its value differs between models, and a policy applies to all"
    if name == "rate-limiting" and len({plugin.at for plugin in plugins}) > 1:
        return "each has a count of its own: write a rate_limit under policies"
    return ""


def _note(draft: ImportedConfig, plugin: Plugin, reason: str, models: Sequence[str]) -> None:
    names = ", ".join(dict.fromkeys(models))
    if names and plugin.name not in _NO_GUARDS:
        reason = f"WARNING, models without this guard: {names}: {reason}"
    draft.skip((*plugin.at, "name"), reason, f"plugin {plugin.name}")


def _carry(draft: ImportedConfig, plugin: Plugin, guarded: Sequence[Guarded]) -> None:
    """Add the policies or the `cors` of a plugin. Raises ValueError for one without a
    counterpart."""
    if plugin.name in _OTHERS:
        _OTHERS[plugin.name](draft, plugin)
        return
    line = draft.line((*plugin.at, "name"))
    policies = _POLICIES[plugin.name](plugin.config, guarded)
    draft.policies += [Entry(policy, [line]) for policy in policies]
    if plugin.name == "rate-limiting" and plugin.config.get("limit_by", "consumer") == "consumer":
        for consumer, at in listed(draft.source.value, "consumers", ()):
            if len([*listed(consumer, "keyauth_credentials", at)]) > 1:
                reason = "WARNING, each of its keys has a limit of its own"
                draft.skip(at, reason, f"one limit of {consumer.get('username', 'a consumer')}")


def _rate_limits(config: Mapping[str, object], guarded: Sequence[Guarded]) -> list[object]:
    """A `rate_limit` for each window; days and months begin as Kong's do, shorter ones slide."""
    by = str(config.get("limit_by", "consumer"))
    if by not in _BY or (by == "service" and len({id(g.entity.service()) for g in guarded}) > 1):
        raise ValueError(f"limits cannot be counted by {by}")
    limits = {key: config[key] for key in _WINDOWS if config.get(key) is not None}
    if not limits:
        raise ValueError("it has no limit")
    for key, count in limits.items():
        if not isinstance(count, int) or count < 1:
            raise ValueError(f"'{count}' requests per {key} is not a whole number above 0")
    shared = {} if _BY[by] == "token" else {"by": _BY[by]}
    return [
        {"rate_limit": {"requests": count, "per": _WINDOWS[key]} | shared}
        for key, count in limits.items()
    ]


def _max_body(config: Mapping[str, object], guarded: Sequence[Guarded]) -> list[object]:
    """Kong's megabytes are 2^20 bytes."""
    size, unit = config.get("allowed_payload_size", 128), str(config.get("size_unit", "megabytes"))
    if not isinstance(size, int) or size < 1 or unit not in _UNITS:
        raise ValueError(f"'{size} {unit}' is not a size")
    return [{"max_body": f"{size}{_UNITS[unit]}"}]


def _allow_ips(config: Mapping[str, object], guarded: Sequence[Guarded]) -> list[object]:
    """The networks of `allow`, all without it, less those of `deny`."""
    networks = _networks(config.get("allow") or ["0.0.0.0/0", "::/0"])
    for denied in _networks(config.get("deny") or []):
        networks = [rest for network in networks for rest in _without(network, denied)]
    if not networks:
        raise ValueError("it allows no address")
    return [{"allow_ips": [str(network) for network in networks]}]


def _networks(texts: object) -> list[Network]:
    if not isinstance(texts, list):
        raise ValueError(f"'{texts}' is not a list of networks")
    return [ip_network(str(text), strict=False) for text in texts]


def _without(network: Network, denied: Network) -> Sequence[Network]:
    """The parts of a network that are outside another one."""
    if isinstance(network, IPv4Network) and isinstance(denied, IPv4Network):
        return _rest(network, denied)
    if isinstance(network, IPv6Network) and isinstance(denied, IPv6Network):
        return _rest(network, denied)
    return [network]


def _rest(network: _N, denied: _N) -> list[_N]:
    if not network.overlaps(denied):
        return [network]
    is_within = denied.prefixlen <= network.prefixlen
    return [] if is_within else sorted(network.address_exclude(denied))


def _read_cors(draft: ImportedConfig, plugin: Plugin) -> None:
    """The origins; methods and headers are those that the gateway has."""
    origins = plugin.config.get("origins", ["*"])
    if not isinstance(origins, list):
        raise ValueError(f"'{origins}' is not a list of origins")
    exact = [origin for origin in origins if _ORIGIN.fullmatch(str(origin))]
    at = (*plugin.at, "config")
    for origin in origins:
        if origin not in exact:
            draft.skip((*at, "origins"), "origins must match exactly", f"'{origin}'")
    for key in plugin.config:
        if key != "origins":
            draft.skip((*at, key), "the gateway sets it itself")
    if exact:
        line = draft.line((*plugin.at, "name"))
        draft.cors = Entry({"origins": list(dict.fromkeys(exact))}, [line])


_POLICIES: Mapping[str, Callable[[Section, Sequence[Guarded]], list[Any]]] = {
    "ip-restriction": _allow_ips,
    "request-size-limiting": _max_body,
    "rate-limiting": _rate_limits,
}
_OTHERS: Mapping[str, Callable[[ImportedConfig, Plugin], None]] = {
    **dict.fromkeys(SIDES, read_headers),
    "cors": _read_cors,
}
