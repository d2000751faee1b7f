"""Reads an entry of `upstreams:`, with what its provider says and the problems of its values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from engine import credentials
from engine.config import keys, provider_defaults
from engine.config.health import (
    RateLimitsConfig,
    read_ejection,
    read_probes,
)
from engine.config.tls import tls_files
from engine.config.transforms import TransformConfig, read_transform
from engine.config.upstreams import (
    CALLS_AGAIN,
    BreakerConfig,
    HeaderChanges,
    PoolConfig,
    QueueConfig,
    Resolve,
    Retry,
    Tls,
    UpstreamConfig,
    known_choices,
    unknown_choices,
)
from engine.credentials import Credential
from engine.source.problem import Findings, Path
from engine.source.reader import SourceDocument
from engine.values.trees import Json

_RESERVED_HEADERS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te"}
)


class UpstreamReader:
    """Reads valid entries of `upstreams:`."""

    def __init__(self, source: SourceDocument, folder: FilePath, findings: Findings) -> None:
        self.source = source
        self.folder = folder
        self.findings = findings

    def read(self, name: str, section: Json) -> UpstreamConfig | None:
        """One upstream; problems of its values go to the findings. None if its provider cannot
        complete it."""
        at: Path = ("upstreams", name)
        entry = provider_defaults.complete(section, at, self.source, self.findings)
        if entry is None:
            return None
        values = self._with_url(keys.fill(entry.section, "upstreams.*"), at)
        pins = values.get("pins", "")
        return UpstreamConfig(
            name=name,
            url=values["url"].rstrip("/"),
            dialect=values.get("dialect", ""),
            credentials=self._credentials(values, entry.variables, at),
            timeouts=keys.fill(values.get("timeouts", {}), "upstreams.*.timeouts"),
            forward_headers=tuple(values.get("forward_headers", ())),
            ask_usage=values["ask_usage"],
            cache_in_input=values["cache_in_input"],
            responses_websocket=values["responses_websocket"],
            pool=_pool(values.get("pool", {})),
            proxy=values.get("proxy"),
            tls=self._tls(values.get("tls", {}), (*at, "tls")),
            at=at,
            retry=_retry(values.get("retry", {}), is_mcp="mcp" in values),
            breaker=BreakerConfig(**values.get("breaker", {})),
            ejection=read_ejection(values, at, self.source, self.findings),
            health=read_probes(values, at, self.source, self.findings),
            rate_limits=RateLimitsConfig(**values.get("rate_limits", {})),
            heartbeat=values.get("heartbeat") or None,
            headers=self._headers(values.get("headers", {}), (*at, "headers")),
            resolve=self._resolve(values),
            missing_paths=tuple(values.get("missing_paths", ())),
            provider=values.get("provider", ""),
            variables=entry.variables,
            transform=_provider_transform(entry.transform, at) + read_transform(values, at),
            max_in_flight=values.get("max_in_flight"),
            queue=QueueConfig(**values["queue"]) if "queue" in values else None,
            caller_choices=self._caller_choices(values, at),
            mcp=values.get("mcp", ""),
            pins=str(self.folder / pins) if pins else "",
            regions=tuple(values.get("regions", ())),
        )

    def _with_url(self, values: Json, at: Path) -> Json:
        """The values, with the URL of an MCP server as `url`."""
        if "mcp" not in values:
            if "pins" in values:
                message = "'pins' is for MCP servers"
                self.findings.error(self.source, (*at, "pins"), "MW105", message, "write `mcp`")
            return values
        if "url" in values or values.get("dialect"):
            other = "url" if "url" in values else "dialect"
            message = f"'mcp' and '{other}' are both set"
            self.findings.error(self.source, (*at, "mcp"), "MW105", message, "keep one of them")
        parts = urlsplit(values["mcp"])
        return {**values, "url": urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))}

    def _credentials(
        self, section: Json, variables: Mapping[str, str], at: Path
    ) -> tuple[Credential, ...]:
        if "credential" in section and "credentials" in section:
            message = "'credential' and 'credentials' are both set"
            hint = "keep one of them"
            self.findings.error(self.source, (*at, "credentials"), "MW105", message, hint)
        if "credential" in section:
            entries: dict[Path, Any] = {(*at, "credential"): section["credential"]}
        else:
            enumerated = enumerate(section.get("credentials", ()))
            entries = {(*at, "credentials", index): entry for index, entry in enumerated}
        url = section["url"].rstrip("/")
        values = [self._credential(entry, url, variables, at) for at, entry in entries.items()]
        return tuple(credential for credential in values if credential is not None)

    def _caller_choices(self, values: Json, at: Path) -> tuple[str, ...]:
        choices = known_choices(
            values.get("provider", ""), values["url"], values.get("dialect", "")
        )
        names = tuple(values.get("caller_choices", ()))
        for index, message, hint in unknown_choices(names, choices):
            place = (*at, "caller_choices", index)
            self.findings.error(self.source, place, "MW376", message, hint)
        return names

    def _headers(self, section: Json, at: Path) -> HeaderChanges:
        for kind in ("set", "add"):
            for name, value in section.get(kind, {}).items():
                if message := _header_problem(name, value):
                    self.findings.error(self.source, (*at, kind, name), "MW105", message)
        return HeaderChanges(
            {name.lower(): value for name, value in section.get("set", {}).items()},
            {name.lower(): value for name, value in section.get("add", {}).items()},
            frozenset(name.lower() for name in section.get("remove", ())),
        )

    def _credential(
        self, section: Json, url: str, variables: Mapping[str, str], at: Path
    ) -> Credential | None:
        def error(path: Path, message: str, hint: str = "", code: str = "MW105") -> None:
            self.findings.error(self.source, (*at, *path), code, message, hint)

        context = credentials.Context(url, self.folder, error, variables)
        return credentials.read(section, context)

    def _tls(self, section: Json, at: Path) -> Tls:
        return Tls(**tls_files(section, at, self.folder, self.source, self.findings))

    def _resolve(self, values: Json) -> Resolve | None:
        section = values.get("resolve")
        if section is None:
            return None
        file = section.get("file")
        return Resolve(**{**section, "file": file and str(self.folder / file)})


def _pool(section: int | Json) -> PoolConfig:
    return PoolConfig(section) if isinstance(section, int) else PoolConfig(**section)


def _header_problem(name: str, value: str) -> str:
    """Why a header cannot be set; "" if it can."""
    if name.lower() in _RESERVED_HEADERS:
        return f"header '{name}' belongs to the connection: the gateway sets it"
    valid = value.isprintable() and value.isascii()
    return "" if valid else f"header '{name}' has other than printable ASCII characters"


def _provider_transform(options: Mapping[str, object], at: Path) -> tuple[TransformConfig, ...]:
    """The transform of the entry's provider, if it has one; the entry is at `at`."""
    return (TransformConfig(options, (*at, "provider")),) if options else ()


def _retry(section: Json, *, is_mcp: bool) -> Retry:
    values = dict(section)
    if is_mcp:
        values.setdefault("on", CALLS_AGAIN)
    if "on" in values:
        values["on"] = frozenset(str(failure) for failure in values["on"])
    return Retry(**values)
