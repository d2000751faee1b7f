"""Reading gateway.yaml into a Config: its YAML, shape and values. Names are the plan's business."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path as FilePath
from typing import Any

from engine import units
from engine.config import model, shape
from engine.config.secrets import expander
from engine.config.upstreams import Upstreams
from engine.marked_yaml import Marked, read
from engine.problem import Findings, Path
from engine.tokens import Caller


def load(
    text: str, shown: str, folder: FilePath, environ: Mapping[str, str], findings: Findings
) -> tuple[model.Config | None, Marked]:
    """Read a config. None for the Config when its text cannot be read at all.

    Entries with a breach of the shape are left out, so that the rest can be checked as well;
    `findings` then has errors, and nothing may be served.
    """
    marked = read(text, shown, expander(environ, folder))
    findings.take(marked)
    if marked.value is None and not marked.problems:
        findings.error(marked, (), "MW102", "the file is empty", "start with `modelway init DIR`")
    if marked.value is None:
        return None, marked
    breaches = _check_shape(marked, findings)
    if not isinstance(marked.value, dict):
        return None, marked
    said, broken = _sound(marked.value, breaches)
    return _Builder(marked, folder, findings).config(said, broken), marked


def _check_shape(marked: Marked, findings: Findings) -> list[Path]:
    """Note breaches of the shape, except where a value could not be read in the first place.

    Returns where all of them stand.
    """
    shaped = Findings()
    breaches = shape.check(marked.value, shape.schema(), marked, (), shaped)
    failed = {(problem.line, problem.column) for problem in marked.problems}
    findings.found.extend(p for p in shaped.found if (p.line, p.column) not in failed)
    return breaches


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


_DAY = 86_400.0


class _Builder:
    """A value of the right shape -> Config."""

    def __init__(self, marked: Marked, folder: FilePath, findings: Findings) -> None:
        self.marked = marked
        self.folder = folder
        self.findings = findings

    def config(self, said: dict[str, Any], broken: model.Broken) -> model.Config:
        upstreams = Upstreams(self.marked, self.folder, self.findings)
        return model.Config(
            source=self.marked,
            folder=self.folder,
            server=_server(said.get("server", {})),
            specs={n: _spec(n, v) for n, v in said.get("specs", {}).items()},
            upstreams={n: upstreams.build(n, v) for n, v in said.get("upstreams", {}).items()},
            models={n: _model(n, v) for n, v in said.get("models", {}).items()},
            policies=_policies(said.get("policies", []), ("policies",)),
            routes=tuple(
                _route(v, ("routes", i)) for i, v in enumerate(said.get("routes", [])) if v
            ),
            tokens=self._tokens(said.get("tokens", [])),
            broken=broken,
        )

    def _tokens(self, said: list[dict[str, Any] | None]) -> dict[str, Caller]:
        tokens: dict[str, Caller] = {}
        names: set[str] = set()
        for index, token in enumerate(said):
            if token is None:
                continue
            at: Path = ("tokens", index)
            if token["sha256"] in tokens or token["name"] in names:
                key = "sha256" if token["sha256"] in tokens else "name"
                message = f"two tokens with one {key}"
                self.findings.error(self.marked, (*at, key), "MW107", message)
            names.add(token["name"])
            models = tuple(token["models"]) if "models" in token else None
            expires = self._moment(token.get("expires"), (*at, "expires"))
            tokens[token["sha256"]] = Caller(token["name"], models, expires)
        return tokens

    def _moment(self, text: str | None, at: Path) -> float | None:
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            message = f"'{text}' is no date that exists"
            self.findings.error(self.marked, at, "MW104", message, "write 2027-01-31")
            return None
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        return seconds + _DAY if len(text) == len("2027-01-31") else seconds


def _server(said: dict[str, Any]) -> model.Server:
    convert = {"max_body": units.size} | dict.fromkeys(
        ("body_timeout", "keepalive", "grace"), units.seconds
    )
    values: dict[str, Any] = {k: convert[k](v) if k in convert else v for k, v in said.items()}
    return model.Server(**values)


def _spec(name: str, said: dict[str, Any]) -> model.Spec:
    mount = said.get("mount", [])
    return model.Spec(
        name=name,
        document=said["document"],
        dialect=said.get("dialect", "plain"),
        mount=(mount,) if isinstance(mount, str) else tuple(mount),
        token=tuple(said.get("token", ())),
        at=("specs", name),
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
    )


def _policies(said: list[dict[str, Any]], at: Path) -> tuple[model.Policy, ...]:
    return tuple(
        model.Policy(name, options, (*at, index, name))
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
        policies=_policies(said.get("policies", []), (*at, "policies")),
        at=at,
        websocket=_websocket(said["websocket"]) if "websocket" in said else None,
    )


def _websocket(said: dict[str, Any]) -> model.WebSocket:
    convert = {"max_message": units.size} | dict.fromkeys(
        ("idle", "session", "ping"), units.seconds
    )
    values: dict[str, Any] = {k: convert[k](v) if k in convert else v for k, v in said.items()}
    return model.WebSocket(**values)
