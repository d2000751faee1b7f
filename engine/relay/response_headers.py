"""The headers of an upstream's answer that are passed to the caller.

The law, in this order: a header that the dialect hides never passes; then the first row of TABLE
that names a header decides. On a route of an AI dialect, a header without a row passes only if the
dialect or the operation's document lists it; on a route of any other API it passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import lru_cache, partial
from itertools import compress
from operator import itemgetter
from typing import NamedTuple, Protocol

from engine.values.wildcard import matches

STALE_HEADERS = frozenset(
    {"content-length", "content-encoding", "etag", "digest", "content-digest", "repr-digest"}
)
"""Headers about a body that are wrong once it is edited."""


class Action(IntEnum):
    """What is done with a header."""

    DROP = 0
    PASS = 1
    PASS_IF_DECLARED = 2  # in the document, as a header of one of the operation's answers
    MOVE = 3  # an address: rewritten to one of the gateway, see `Addresses`
    MOVE_LINKS = 4
    RENAME = 5  # to `x-upstream-request-id`
    READ = 6  # `connection`, which names other headers to drop


class Row(NamedTuple):
    """Headers (lower case, `*` for any text), what is done with them, and why."""

    names: tuple[str, ...]
    action: Action
    reason: str


_HOP = (
    *("keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding"),
    *("upgrade", "http2-settings", "proxy-authenticate", "proxy-authorization"),
    *("proxy-authentication-info", "proxy-status", "sec-websocket-*"),
)
_FRONT = (
    *("x-accel-*", "x-sendfile*", "x-lighttpd-*", "x-litespeed-*", "x-lsadc-*", "x-reproxy-*"),
    *("x-hiawatha-*", "x-envoy-*", "x-appengine-*", "x-middleware-*", "x-vercel-*", "netlify-*"),
    *("x-nf-*", "x-passenger-*", "x-offload-*", "fly-*", "x-traefik-*", "status", "x-cascade"),
    *("x-original-url", "x-rewrite-url", "x-http-method-override"),
)
_SHARED_CACHE = (
    *("surrogate-*", "edge-control", "edge-cache-tag", "cdn-cache-control", "*-cdn-cache-control"),
    *("cache-tag", "cache-tags", "x-cache-tags", "xkey"),
)
_ORIGIN = (
    *("clear-site-data", "refresh", "strict-transport-security", "content-security-policy*"),
    *("x-content-security-policy*", "x-webkit-csp*", "permissions-policy*", "feature-policy"),
    *("document-policy*", "require-document-policy", "sec-required-document-policy"),
    *("cross-origin-*", "origin-agent-cluster", "integrity-policy*", "public-key-pins*"),
    *("expect-ct", "expect-staple*", "nel", "report-to", "reporting-endpoints"),
    *("service-worker-*", "sourcemap", "x-sourcemap", "x-permitted-cross-domain-policies"),
    *("x-dns-prefetch-control", "x-ua-compatible", "accept-ch*", "critical-ch", "variants*"),
    *("speculation-rules", "supports-loading-mode", "no-vary-search", "use-as-dictionary"),
    *("timing-allow-origin", "origin-trial", "set-login", "activate-storage-access"),
    *("sec-session-*", "secure-session-*", "observe-browsing-topics", "attribution-reporting-*"),
    *("ad-auction-*", "x-allow-fledge", "content-dpr", "p3p", "tk"),
)
_LOGIN = (
    *("set-cookie", "set-cookie2", "www-authenticate", "optional-www-authenticate"),
    *("authentication-info", "authentication-control"),
)
_REPRESENTATION = (
    *("content-type", "content-encoding", "content-language", "content-disposition"),
    *("content-range", "content-md5", "content-digest", "repr-digest", "digest", "accept-ranges"),
    *("etag", "last-modified", "cache-control", "expires", "pragma", "age", "vary", "allow"),
    *("x-content-type-options",),
)

TABLE = (
    Row(
        ("connection",), Action.READ, "belongs to one connection, as what it names (RFC 9110 7.6.1)"
    ),
    Row(_HOP, Action.DROP, "belongs to one connection (RFC 9110 7.6.1, RFC 6455)"),
    Row(
        ("content-length", "date"),
        Action.DROP,
        "written by the gateway for the answer that it sends",
    ),
    Row(
        ("server", "via", "x-powered-by", "x-aspnet*-version", "x-generator", "alt-svc"),
        Action.DROP,
        "names another server, or sends clients to it",
    ),
    Row(("x-modelway-*",), Action.DROP, "only this gateway sends it"),
    Row(
        ("forwarded", "x-forwarded-*", "x-real-ip", "authorization", "cookie", "host"),
        Action.DROP,
        "a request header; in an answer it reveals the network behind the gateway",
    ),
    Row(
        ("access-control-*",),
        Action.DROP,
        "`cors` decides which pages may call the gateway",
    ),
    Row(_FRONT, Action.DROP, "commands to a proxy or platform in front, such as serving its files"),
    Row(_SHARED_CACHE, Action.DROP, "commands to a shared cache in front of the gateway"),
    Row(_ORIGIN, Action.DROP, "commands to a browser that apply to the whole origin"),
    Row(_LOGIN, Action.PASS_IF_DECLARED, "a login at the upstream, with the gateway's account"),
    Row(("location", "content-location"), Action.MOVE, "names the upstream's address, not ours"),
    Row(("link",), Action.MOVE_LINKS, "the same, and it may make a browser load something"),
    Row(("x-request-id", "request-id"), Action.RENAME, "the request id of the answer is ours"),
    Row(_REPRESENTATION, Action.PASS, "describes the body that is passed on"),
    Row(
        ("retry-after*", "x-should-retry", "x-ratelimit-*", "ratelimit", "ratelimit-*"),
        Action.PASS,
        "tells a client when to ask again",
    ),
)
_CACHED_NAMES = 1000
_CACHED_ANSWERS = 100
_CACHED_RULES = 100
_NAME = itemgetter(0)
_RENAME = Action.RENAME  # looking up a member of an enum is slow


_Actions = tuple[tuple[bool, ...], tuple[tuple[int, Action], ...]]
"""Which headers of an answer pass, and the actions for others that are not dropped, by position."""


class Addresses(Protocol):
    """How the addresses of one upstream are rewritten
    (`engine.upstream.targets.upstream_url.UpstreamUrl`)."""

    def rewrite(self, address: str, path: str, mount: str) -> str | None: ...
    def rewrite_links(self, header: str, path: str, mount: str) -> str | None: ...


def rule(name: str) -> Row | None:
    """The row that decides on a header, by its name in lower case."""
    for row in TABLE:
        if any(matches(name, pattern) for pattern in row.names):
            return row
    return None


class ResponseHeaders:
    """The rules for the answers of one upstream to one operation, decided once for each name.

    `allowed` (wildcards) are the headers without a row that pass, None for all. `declared` are the
    headers in the operation's document; `hidden` (wildcards) never pass.
    """

    __slots__ = ("_actions", "_addresses")

    def __init__(
        self,
        addresses: Addresses,
        *,
        allowed: Iterable[str] | None,
        hidden: Iterable[str] = (),
        declared: Iterable[str] = (),
    ) -> None:
        self._addresses = addresses
        self._actions = _actions(
            None if allowed is None else tuple(allowed),
            tuple(hidden),
            frozenset(name.lower() for name in declared),
        )

    def pick(
        self, headers: Sequence[tuple[str, str]], path: str = "/", mount: str = ""
    ) -> list[tuple[str, str]]:
        """The headers for the caller, at the end those that change. `path` is the requested path at
        the upstream; `mount` is the prefix under which callers reach the upstream's paths."""
        passing, others = self._actions(tuple(map(_NAME, headers)))
        picked = [*compress(headers, passing)]
        hop_by_hop: tuple[str, ...] = ()
        for at, action in others:
            pair = headers[at]
            if action is _RENAME:
                picked.append(("x-upstream-request-id", pair[1]))
            elif action is Action.READ:
                hop_by_hop += tuple(name.strip().lower() for name in pair[1].split(","))
            else:
                addresses = self._addresses
                is_address = action is Action.MOVE
                rewrite = addresses.rewrite if is_address else addresses.rewrite_links
                if (value := rewrite(pair[1], path, mount)) is not None:
                    picked.append((pair[0], value))
        if hop_by_hop:
            return [pair for pair in picked if pair[0] not in hop_by_hop]
        return picked


@lru_cache(maxsize=_CACHED_RULES)
def _actions(
    allowed: tuple[str, ...] | None, hidden: tuple[str, ...], declared: frozenset[str]
) -> Callable[[tuple[str, ...]], _Actions]:
    """The actions by the names of an answer's headers, which most answers of an upstream have in
    common; thousands of upstreams share them. Their number is bounded, as an upstream may send ever
    new names."""
    decide = partial(_action, allowed=allowed, hidden=hidden, declared=declared)
    action_of = lru_cache(maxsize=_CACHED_NAMES)(decide)

    @lru_cache(maxsize=_CACHED_ANSWERS)
    def actions_of(names: tuple[str, ...]) -> _Actions:
        actions = [*map(action_of, names)]
        others = [(at, a) for at, a in enumerate(actions) if a not in (Action.PASS, Action.DROP)]
        return tuple(action is Action.PASS for action in actions), tuple(others)

    return actions_of


def _action(
    name: str,
    *,
    allowed: Sequence[str] | None,
    hidden: Sequence[str],
    declared: frozenset[str],
) -> Action:
    """The action for the header `name`, in lower case."""
    if any(matches(name, pattern) for pattern in hidden):
        return Action.DROP
    row = rule(name)
    if row is not None:
        if row.action is Action.PASS_IF_DECLARED:
            return Action.PASS if name in declared else Action.DROP
        return row.action
    if allowed is None or name in declared:
        return Action.PASS
    return Action.PASS if any(matches(name, pattern) for pattern in allowed) else Action.DROP
