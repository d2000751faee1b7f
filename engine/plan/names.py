"""Checks that every name in gateway.yaml exists: dialects, upstreams, models, policies."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path as FilePath

from engine import dialects, policies
from engine.config import schema_check
from engine.config.config import Config
from engine.config.models import Model, Target
from engine.config.routes import Policy, Route
from engine.config.upstreams import Upstream
from engine.plan import store_urls
from engine.relay.headers import NEVER_SENT
from engine.source.files import is_file
from engine.source.problem import Findings, Level, Path, place_of
from engine.source.suggestion import did_you_mean
from engine.spec.spec import Specification
from engine.upstream.client.address import origin_of, proxy_of
from engine.upstream.client.dial import tls_context
from engine.values.wildcard import matches

_TLS_FILES = {
    "ca": "it holds no certificate in PEM",
    "certificate": "it is no certificate in PEM with its key, or the key is encrypted",
}
_NOT_READ = frozenset({os.strerror(errno.EACCES), os.strerror(errno.EISDIR)})
_HINTS = {
    "query": "a fixed parameter goes to credential: {query: api-version, value: ...}, and the key "
    "to headers: {set: {api-key: ...}}",
    "user": "write credential: {header: authorization, value: Basic ...}",
}
"""What to write for a part that the URL of an upstream cannot have."""


def check_names(
    config: Config, specifications: Mapping[str, Specification], findings: Findings
) -> None:
    """Note every unknown name, and every route without exactly one of `model`, `to`, `answer`."""
    checker = _Checker(config, findings)
    for spec in config.specs.values():
        checker.dialect(spec.dialect, (*spec.at, "dialect"))
    for upstream in config.upstreams.values():
        if upstream.dialect:
            checker.dialect(upstream.dialect, (*upstream.at, "dialect"))
        checker.forwarded(upstream)
        checker.address(upstream)
    checker.collector()
    checker.stores()
    for entry in config.models.values():
        checker.targets(entry.to)
        checker.fallbacks(entry)
    checker.cycles()
    checker.policies(config.policies)
    for route in config.routes:
        checker.route(route)
    checker.unused()


@cache
def _options_validator(name: str) -> schema_check.Validator:
    """The validator of the options of a policy."""
    return schema_check.validator(policies.get(name).SCHEMA)


class _Checker:
    def __init__(self, config: Config, findings: Findings) -> None:
        self.config = config
        self.findings = findings
        self.used: set[str] = set()

    def error(
        self, at: Path, code: str, message: str, hint: str = "", *, key: bool = False
    ) -> None:
        self.findings.error(self.config.source, at, code, message, hint, key=key)

    def _exists(self, section: str, name: str) -> bool:
        return name in getattr(self.config, section) or self.config.broken.has(section, name)

    def dialect(self, name: str, at: Path) -> None:
        if name not in dialects.names():
            hint = did_you_mean(name, dialects.names())
            self.error(at, "MW311", f"unknown dialect '{name}'", hint)

    def forwarded(self, upstream: Upstream) -> None:
        for index, name in enumerate(upstream.forward_headers):
            if name.lower() in NEVER_SENT:
                at = (*upstream.at, "forward_headers", index)
                message = f"header '{name}' is never forwarded"
                self.error(at, "MW312", message, "it carries the caller's token or address")

    def targets(self, targets: Iterable[Target]) -> None:
        for target in targets:
            self.used.add(target.upstream)
            if not self._exists("upstreams", target.upstream):
                hint = did_you_mean(target.upstream, self.config.upstreams)
                message = f"unknown upstream '{target.upstream}'"
                self.error((*target.at, "upstream"), "MW313", message, hint)
            if "*" in target.model:
                self.error(
                    (*target.at, "model"), "MW314", "a target's model is a name, not a wildcard"
                )

    def fallbacks(self, entry: Model) -> None:
        for index, name in enumerate(entry.fallback):
            at = (*entry.at, "fallback", index)
            if not self._exists("models", name):
                hint = did_you_mean(name, self.config.models)
                self.error(at, "MW314", f"unknown model '{name}'", hint)
            elif "*" in name:
                message = "a fallback is a model's name, not a wildcard"
                self.error(at, "MW314", message, "name the model to ask for")

    def cycles(self) -> None:
        """Each circle of fallbacks once, at the first of its models in the file."""
        reported: set[frozenset[str]] = set()
        for name in self.config.models:
            circle = self._circle(name)
            if circle and frozenset(circle) not in reported:
                reported.add(frozenset(circle))
                chain = " -> ".join([*circle, name])
                at = ("models", name, "fallback")
                self.error(at, "MW315", f"fallbacks form a cycle: {chain}", "take one out")

    def _circle(self, start: str) -> list[str]:
        """The shortest chain of fallbacks from a model back to itself, or nothing."""
        chains = [[start]]
        visited: set[str] = set()
        for chain in chains:
            entry = self.config.models.get(chain[-1])
            for name in entry.fallback if entry else ():
                if name == start:
                    return chain
                if name not in visited:
                    visited.add(name)
                    chains.append([*chain, name])
        return []

    def policies(self, listed: Iterable[Policy]) -> None:
        for policy in listed:
            if policy.name not in policies.names():
                hint = did_you_mean(policy.name, policies.names())
                self.error(policy.at, "MW316", f"unknown policy '{policy.name}'", hint, key=True)
                continue
            validator = _options_validator(policy.name)
            if schema_check.check(
                policy.options, validator, self.config.source, policy.at, self.findings
            ):
                continue
            try:
                policies.guards([policy], self.config.currency)
            except ValueError as error:
                self.error(policy.at, "MW104", str(error))

    def route(self, route: Route) -> None:
        self.targets(route.to)
        self.policies(route.policies)
        goals = [key for key in ("model", "to", "answer") if getattr(route, key)]
        if len(goals) != 1:
            present = " and ".join(goals) if goals else "none of them"
            hint = "model: for requests that name one; to: for a fixed upstream; answer: models"
            message = f"a route has one of 'model', 'to' and 'answer'; this has {present}"
            self.error(route.at, "MW317", message, hint)
        if not route.operations:
            self.error(route.at, "MW317", "a route needs 'operation' or 'operations'")
        self.default(route)
        if route.model and not self.config.models and "models" not in self.config.broken.names:
            self.error((*route.at, "model"), "MW317", "there are no 'models' for it to name")

    def default(self, route: Route) -> None:
        name = route.default_model
        models = self.config.models
        if not name or self._exists("models", name) or any(matches(name, m) for m in models):
            return
        hint = did_you_mean(name, models)
        self.error((*route.at, "model", "default"), "MW314", f"unknown model '{name}'", hint)

    def address(self, upstream: Upstream) -> None:
        """The URL and the proxy, as the client reads them."""
        try:
            origin = origin_of(upstream.url)
        except ValueError as error:
            message = str(error)
            hint = next((_HINTS[part] for part in _HINTS if message.endswith(f"no {part}")), "")
            self.error((*upstream.at, "url"), "MW104", message, hint)
            return
        if origin.tls:
            self.tls(upstream)
        try:
            proxy_of(origin, upstream.proxy, {})
        except ValueError as error:
            self.error((*upstream.at, "proxy"), "MW104", str(error))

    def tls(self, upstream: Upstream) -> None:
        """The files of TLS, as the client loads them."""
        tls = upstream.tls
        pair = (tls.certificate, tls.key or tls.certificate) if tls.certificate else None
        for key, ca, cert in (("ca", tls.ca, None), ("certificate", None, pair)):
            files = [file for file in (ca, *(cert or ())) if file is not None]
            if not files or not all(is_file(FilePath(file)) for file in files):
                continue  # that they are missing is noted already
            try:
                tls_context(ca, cert, verify=ca is not None)
            except OSError as error:
                why = error.strerror if error.strerror in _NOT_READ else _TLS_FILES[key]
                message = f"'{key}' cannot be used: {why}"
                self.error((*upstream.at, "tls", key), "MW104", message)

    def stores(self) -> None:
        """The stores' URLs, as the stores read them."""
        if self.config.broken.has("stores", "*"):
            return
        at_fault = {(p.file, p.line, p.column) for p in self.findings.unsorted}
        for at, message in store_urls.faults(self.config.stores):
            if place_of(self.config.source, at) not in at_fault:
                self.error(at, "MW104", message)

    def collector(self) -> None:
        """Where traces are sent, as the client reads it."""
        traces = self.config.telemetry.traces
        try:
            if traces is not None:
                origin_of(traces.url)
        except ValueError as error:
            message = str(error).replace("an upstream", "a collector")
            self.error(("telemetry", "traces", "endpoint"), "MW104", message)

    def unused(self) -> None:
        for name, upstream in self.config.upstreams.items():
            if name not in self.used and not self.config.broken.names:
                self.findings.note(
                    self.config.source,
                    upstream.at,
                    Level.WARNING,
                    "MW318",
                    f"upstream '{name}' is used by nothing",
                    key=True,
                )
