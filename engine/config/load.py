"""Reading gateway.yaml into a Config: its YAML, shape and values. Names are the plan's business."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from engine.config import hints, model, schema_check
from engine.config.include import assemble
from engine.config.literal_secrets import literals
from engine.config.references import expander
from engine.config.stores import prices, stores
from engine.config.telemetry import Telemetry, check_listen, telemetry
from engine.config.tokens import Tokens
from engine.config.upstreams import Upstreams
from engine.source.problem import Findings, Path, place_of
from engine.source.reader import SourceDocument, read, read_file
from engine.values import units
from engine.values.client_address import Network, networks

_SERVER_TIMES = ("body_timeout", "request_timeout", "keepalive", "grace")
_HOST = re.compile(r"[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+(?:%\w+)?\]")
_NAMED = ("specs", "upstreams", "models")


def load(
    text: str, shown: str, folder: FilePath, environ: Mapping[str, str], findings: Findings
) -> tuple[model.Config | None, SourceDocument]:
    """Read a config and what it includes. None for the Config when its text cannot be read at all.

    Entries with a breach of the shape are left out, so that the rest can be checked as well;
    `findings` then has errors, and nothing may be served.
    """
    return _load(read(text, shown, expander(environ, folder)), folder, environ, findings)


def load_file(
    file: FilePath, environ: Mapping[str, str], findings: Findings
) -> tuple[model.Config | None, SourceDocument]:
    """Read a config from its file, as `load` does."""
    folder = file.absolute().parent
    document = read_file(file, str(file), expander(environ, folder))
    return _load(document, folder, environ, findings)


def _load(
    marked: SourceDocument, folder: FilePath, environ: Mapping[str, str], findings: Findings
) -> tuple[model.Config | None, SourceDocument]:
    findings.take(marked)
    if marked.value is None and not marked.problems:
        findings.error(marked, (), "MW102", "the file is empty", "start with `modelway init DIR`")
    findings.conceal(marked.file, [(one.start, one.end) for one in literals(marked)])
    if marked.value is None:
        return None, marked
    whole = True
    if isinstance(marked.value, dict) and "include" in marked.value:
        marked, whole = assemble(marked, folder, environ, findings)
    marked.value = _whole_numbers(marked.value)
    breaches = _check_shape(marked, findings)
    if not isinstance(marked.value, dict):
        return None, marked
    said, broken = _sound(marked.value, breaches)
    if not whole:
        broken = model.Broken({**broken.names, **dict.fromkeys(_NAMED, frozenset("*"))})
    config = _Builder(marked, folder, findings).config(said, broken)
    _check_text(marked.value, (), marked, findings)
    return config, marked


def _check_shape(marked: SourceDocument, findings: Findings) -> list[Path]:
    """Note breaches of the shape, except where a value could not be read in the first place.

    Returns where all of them stand.
    """
    shaped = Findings()
    breaches = schema_check.check(
        marked.value, schema_check.gateway_validator(), marked, (), shaped
    )
    failed = {(problem.file, problem.line, problem.column) for problem in marked.problems}
    findings.found.extend(p for p in shaped.found if (p.file, p.line, p.column) not in failed)
    return breaches


def _whole_numbers(value: Any) -> Any:
    """The value with `10.0` and `1e3` as integers: JSON Schema takes them for whole numbers, and
    what counts with them does not. Requests under `tests` stay as they are."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole_numbers(below) for below in value]
    if isinstance(value, dict):
        return {k: below if k == "tests" else _whole_numbers(below) for k, below in value.items()}
    return value


def _check_text(value: Any, at: Path, marked: SourceDocument, findings: Findings) -> None:
    """Note strings with a NUL character, which no file, header or address can have, unless
    something else is wrong with them already."""
    if isinstance(value, str) and "\0" in value:
        place = place_of(marked, at)
        if not any((p.file, p.line, p.column) == place for p in findings.found):
            message = "a character that may not stand here (U+0000)"
            findings.error(marked, at, "MW104", message, "take it out")
    elif isinstance(value, list):
        for index, below in enumerate(value):
            _check_text(below, (*at, index), marked, findings)
    elif isinstance(value, dict):
        for key, below in value.items():
            _check_text(key, (*at, key), marked, findings)
            _check_text(below, (*at, key), marked, findings)


def _sound(value: dict[str, Any], breaches: list[Path]) -> tuple[dict[str, Any], model.Broken]:
    """The entries without a breach, so that they can be checked further, and the others' names."""
    said = {key: below for key, below in value.items() if below is not None}
    broken: dict[str, set[str]] = {}
    for path in breaches:
        section = str(path[0]) if path else ""
        if section not in said:
            continue
        if len(path) < 2 or not isinstance(said[section], dict | list) or section == "server":
            del said[section]
            broken.setdefault(section, set()).add("*")
        elif isinstance(said[section], list):
            said[section] = [None if i == path[1] else e for i, e in enumerate(said[section])]
            broken.setdefault(section, set())
        else:
            said[section] = {k: v for k, v in said[section].items() if k != path[1]}
            broken.setdefault(section, set()).add(str(path[1]))
    return said, model.Broken({section: frozenset(names) for section, names in broken.items()})


class _Builder:
    """A value of the right shape -> Config."""

    def __init__(self, marked: SourceDocument, folder: FilePath, findings: Findings) -> None:
        self.marked = marked
        self.folder = folder
        self.findings = findings

    def config(self, said: dict[str, Any], broken: model.Broken) -> model.Config:
        upstreams = Upstreams(self.marked, self.folder, self.findings)
        currency = said.get("currency", "USD")
        tokens = Tokens(self.marked, self.findings, currency)
        server = self._server(said.get("server", {}))
        return model.Config(
            source=self.marked,
            folder=self.folder,
            server=server,
            specs={n: _spec(n, v) for n, v in said.get("specs", {}).items()},
            upstreams={n: upstreams.build(n, v) for n, v in said.get("upstreams", {}).items()},
            models={n: _model(n, v) for n, v in said.get("models", {}).items()},
            policies=_policies(said.get("policies", []), ("policies",)),
            routes=tuple(
                _route(v, ("routes", i)) for i, v in enumerate(said.get("routes", [])) if v
            ),
            tokens=tokens.callers(said.get("tokens", [])),
            broken=broken,
            stores=stores(said.get("stores", {}), self.folder, self.marked, self.findings),
            prices=prices(said.get("prices", {})),
            currency=currency,
            console=model.Console(**said.get("console", {})),
            origins=tuple(said.get("cors", {}).get("origins", ())),
            telemetry=self._telemetry(said.get("telemetry", {}), server.listen),
        )

    def _telemetry(self, said: dict[str, Any], listen: str) -> Telemetry:
        found = telemetry(said, self.folder, self.marked, self.findings)
        at = ("telemetry" if "listen" in said else "server", "listen")
        check_listen(found, listen, at, self.marked, self.findings)
        return found

    def _server(self, said: dict[str, Any]) -> model.Server:
        convert: dict[str, Any] = {"max_body": units.size, "trusted_proxies": self._proxies}
        convert |= dict.fromkeys(_SERVER_TIMES, units.seconds)
        convert["base_url"] = lambda text: text.rstrip("/")
        values: dict[str, Any] = {k: convert[k](v) if k in convert else v for k, v in said.items()}
        self._listen(said.get("listen", ""))
        return model.Server(**values)

    def _listen(self, address: str) -> None:
        host = address.rpartition(":")[0]
        if address.startswith("unix:/") or _HOST.fullmatch(host):
            return
        message = "'listen' has no valid host before its port"
        at, form = ("server", "listen"), {"pattern": "."}
        hint = hints.hint("listen", address, form, ["string"])
        if self.marked.reference(at):
            hint = hints.example("listen", form, ["string"])
        self.findings.error(self.marked, at, "MW104", message, hint)

    def _proxies(self, said: list[str]) -> tuple[Network, ...]:
        found: list[Network] = []
        for index, text in enumerate(said):
            try:
                found += networks([text])
            except ValueError as error:
                at = ("server", "trusted_proxies", index)
                self.findings.error(self.marked, at, "MW104", str(error))
        return tuple(found)


def _spec(name: str, said: dict[str, Any]) -> model.Spec:
    mount = said.get("mount", [])
    return model.Spec(
        name=name,
        document=said["document"],
        dialect=said.get("dialect", "plain"),
        mount=(mount,) if isinstance(mount, str) else tuple(mount),
        token=tuple(said.get("token", ())),
        at=("specs", name),
        overlays=tuple(said.get("overlays", ())),
    )


def _targets(said: list[dict[str, Any]], at: Path) -> tuple[model.Target, ...]:
    return tuple(
        model.Target(
            upstream=target["upstream"],
            model=target.get("model", ""),
            weight=float(target.get("weight", 1)),
            at=(*at, "to", index),
        )
        for index, target in enumerate(said)
    )


def _model(name: str, said: dict[str, Any]) -> model.Model:
    at: Path = ("models", name)
    return model.Model(
        name=name,
        to=_targets(said["to"], at),
        fallback=tuple(said.get("fallback", ())),
        title=said.get("title", name),
        owner=said.get("owner", "modelway"),
        created=said.get("created", 0),
        at=at,
        operations=tuple(said.get("operations", ())),
    )


def _policies(said: list[dict[str, Any]], at: Path, group: str = "") -> tuple[model.Policy, ...]:
    return tuple(
        model.Policy(name, options, (*at, index, name), group)
        for index, entry in enumerate(said)
        if entry
        for name, options in entry.items()
    )


def _route(said: dict[str, Any], at: Path) -> model.Route:
    operations: list[tuple[str, Path]] = []
    if "operation" in said:
        operations.append((said["operation"], (*at, "operation")))
    listed = said.get("operations", [])
    if isinstance(listed, str):
        operations.append((listed, (*at, "operations")))
    else:
        operations += [(name, (*at, "operations", i)) for i, name in enumerate(listed)]
    found = said.get("model", "")
    return model.Route(
        operations=tuple(operations),
        model=found if isinstance(found, str) else found["from"],
        default_model="" if isinstance(found, str) else found.get("default", ""),
        also=() if isinstance(found, str) else tuple(found.get("also", ())),
        to=_targets(said.get("to", []), at),
        answer=said.get("answer", ""),
        public=said.get("auth") == "none",
        validate=said.get("validate", "strict"),
        policies=_policies(
            said.get("policies", []), (*at, "policies"), " ".join(name for name, _ in operations)
        ),
        at=at,
        unknown_fields=said.get("unknown_fields", "pass"),
        validate_responses=said.get("validate_responses", "off"),
        websocket=_websocket(said["websocket"]) if "websocket" in said else None,
    )


def _websocket(said: dict[str, Any]) -> model.WebSocket:
    convert = {"max_message": units.size} | dict.fromkeys(
        ("idle", "session", "ping"), units.seconds
    )
    values: dict[str, Any] = {k: convert[k](v) if k in convert else v for k, v in said.items()}
    return model.WebSocket(**values)
