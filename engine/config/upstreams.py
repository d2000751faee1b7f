"""`upstreams:` of gateway.yaml: credentials, timeouts, retries, breakers, headers, TLS."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from engine.config import keys, model
from engine.source.files import is_file
from engine.source.problem import Findings, Path
from engine.source.reader import SourceDocument

_NOT_A_CREDENTIAL = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te"}
)


class Upstreams:
    """Entries of the right shape -> Upstream."""

    def __init__(self, marked: SourceDocument, folder: FilePath, findings: Findings) -> None:
        self.marked = marked
        self.folder = folder
        self.findings = findings

    def build(self, name: str, section: dict[str, Any]) -> model.Upstream:
        """One upstream; the problems of its values go to the findings."""
        at: Path = ("upstreams", name)
        values = keys.fill(section, "upstreams.*")
        return model.Upstream(
            name=name,
            url=values["url"].rstrip("/"),
            dialect=values.get("dialect", ""),
            credentials=self._credentials(values, at),
            timeouts=keys.fill(values.get("timeouts", {}), "upstreams.*.timeouts"),
            forward_headers=tuple(values.get("forward_headers", ())),
            ask_usage=values["ask_usage"],
            pool=values["pool"],
            proxy=values.get("proxy"),
            tls=self._tls(values.get("tls", {}), (*at, "tls")),
            at=at,
            retry=_retry(values.get("retry", {})),
            breaker=model.Breaker(**values.get("breaker", {})),
            heartbeat=values.get("heartbeat") or None,
            headers=self._headers(values.get("headers", {}), (*at, "headers")),
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
        return model.Tls(**{**said, **files})


def _is_header_value(value: str) -> bool:
    return value.isprintable() and value.isascii()


def _retry(section: dict[str, Any]) -> model.Retry:
    values = dict(section)
    if "on" in values:
        values["on"] = frozenset(str(failure) for failure in values["on"])
    return model.Retry(**values)
