"""The upstreams of gateway.yaml as values: credentials, timeouts, patience, TLS."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from engine.config import model
from engine.source.files import is_file
from engine.source.problem import Findings, Path
from engine.source.reader import SourceDocument
from engine.values import units

_NOT_A_CREDENTIAL = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te"}
)


class Upstreams:
    """Entries of the right shape -> Upstream."""

    def __init__(self, marked: SourceDocument, folder: FilePath, findings: Findings) -> None:
        self.marked = marked
        self.folder = folder
        self.findings = findings

    def build(self, name: str, said: dict[str, Any]) -> model.Upstream:
        """One upstream; what is wrong with its values goes to the findings."""
        at: Path = ("upstreams", name)
        return model.Upstream(
            name=name,
            url=said["url"].rstrip("/"),
            dialect=said.get("dialect", ""),
            credentials=self._credentials(said, at),
            timeouts={k: units.seconds(v) for k, v in said.get("timeouts", {}).items()},
            forward_headers=tuple(said.get("forward_headers", ())),
            ask_usage=said.get("ask_usage", True),
            pool=said.get("pool", 100),
            proxy=said.get("proxy"),
            tls=self._tls(said.get("tls", {}), (*at, "tls")),
            at=at,
            retry=_retry(said.get("retry", {})),
            breaker=_breaker(said.get("breaker", {})),
            heartbeat=units.seconds(said.get("heartbeat", "0s")) or None,
            headers=self._headers(said.get("headers", {}), (*at, "headers")),
        )

    def _credentials(self, said: dict[str, Any], at: Path) -> tuple[model.Credential, ...]:
        if "credential" in said and "credentials" in said:
            message = "'credential' and 'credentials' together"
            self.findings.error(self.marked, (*at, "credentials"), "MW105", message, "keep one")
        if "credential" in said:
            made = self._credential(said["credential"], (*at, "credential"))
            return (made,) if made else ()
        listed = enumerate(said.get("credentials", []))
        every = [self._credential(one, (*at, "credentials", index)) for index, one in listed]
        return tuple(one for one in every if one is not None)

    def _headers(self, said: dict[str, Any], at: Path) -> model.HeaderChanges:
        for kind in ("set", "add"):
            for name, value in said.get(kind, {}).items():
                if name.lower() in _NOT_A_CREDENTIAL or not _is_header_value(value):
                    message = f"header '{name}' cannot be given this value here"
                    self.findings.error(self.marked, (*at, kind, name), "MW105", message)
        return model.HeaderChanges(
            {name.lower(): value for name, value in said.get("set", {}).items()},
            {name.lower(): value for name, value in said.get("add", {}).items()},
            frozenset(name.lower() for name in said.get("remove", ())),
        )

    def _credential(self, said: dict[str, str], at: Path) -> model.Credential | None:
        forms = [kind for kind in ("bearer", "header", "query") if kind in said]
        if len(forms) != 1 or ("bearer" in said and "value" in said):
            hint = "write {bearer: ...}, {header: name, value: ...} or {query: name, value: ...}"
            self.findings.error(self.marked, at, "MW105", "a credential has one form", hint)
            return None
        kind, name, value = "header", "authorization", f"Bearer {said.get('bearer')}"
        if "bearer" not in said:
            kind = "header" if "header" in said else "query"
            name, value = said[kind], said["value"]
        if kind == "header" and name.lower() in _NOT_A_CREDENTIAL:
            message = f"header '{name}' cannot hold a credential"
            self.findings.error(self.marked, (*at, "header"), "MW105", message)
        if said.get("bearer", "").lower().startswith("bearer "):
            message = "'Bearer' is written before a bearer credential anyway"
            self.findings.error(
                self.marked, (*at, "bearer"), "MW105", message, "write the key alone"
            )
        if not value.isprintable() or not value.isascii():
            message = "a credential has ASCII letters, digits and signs only; no line ends"
            self.findings.error(self.marked, at, "MW105", message)
        return model.Credential(kind, name.lower() if kind == "header" else name, value)

    def _tls(self, said: dict[str, Any], at: Path) -> model.Tls:
        files: dict[str, str] = {}
        for key in ("ca", "certificate", "key"):
            if key in said:
                path = self.folder / said[key]
                files[key] = str(path)
                if not is_file(path):
                    self.findings.error(
                        self.marked, (*at, key), "MW106", f"there is no file '{said[key]}'"
                    )
        if "key" in said and "certificate" not in said:
            message = "a key without its certificate"
            self.findings.error(self.marked, (*at, "key"), "MW105", message, "name the certificate")
        return model.Tls(**files, verify=said.get("verify", True))


def _is_header_value(value: str) -> bool:
    return value.isprintable() and value.isascii()


def _retry(said: dict[str, Any]) -> model.Retry:
    values: dict[str, Any] = dict(said)
    if "on" in said:
        values["on"] = frozenset(str(failure) for failure in said["on"])
    if "max_wait" in said:
        values["max_wait"] = units.seconds(said["max_wait"])
    return model.Retry(**values)


def _breaker(said: dict[str, Any]) -> model.Breaker:
    values: dict[str, Any] = {
        k: v if k == "failures" else units.seconds(v) for k, v in said.items()
    }
    return model.Breaker(**values)
