"""Reading gateway.yaml into a Config: its YAML, shape and values. Names are the plan's business."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from engine.config import keys, model, schema_check
from engine.config.include import assemble
from engine.config.literal_secrets import literals
from engine.config.references import expander
from engine.config.routes import model_entry, policies, route, spec
from engine.config.server import server
from engine.config.stores import prices, stores
from engine.config.telemetry import check_listen, telemetry
from engine.config.tokens import Tokens
from engine.config.upstreams import Upstreams
from engine.source.problem import Findings, Path, place_of
from engine.source.reader import SourceDocument, read, read_file

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
    breaches = _check_shape(marked, findings)
    if not isinstance(marked.value, dict):
        return None, marked
    said, broken = _sound(marked.value, breaches)
    if not whole:
        broken = model.Broken({**broken.names, **dict.fromkeys(_NAMED, frozenset("*"))})
    config = _config(_convert(said), broken, marked, folder, findings)
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


def _convert(sections: dict[str, Any]) -> dict[str, Any]:
    """The sections with numbers for durations and sizes; requests under `tests` stay as written."""
    key = keys.root()
    return {n: v if n == "tests" else keys.convert(v, key.child(n)) for n, v in sections.items()}


def _config(
    sections: dict[str, Any],
    broken: model.Broken,
    source: SourceDocument,
    folder: FilePath,
    findings: Findings,
) -> model.Config:
    values = keys.fill(sections, "")
    upstreams = Upstreams(source, folder, findings)
    tokens = Tokens(source, findings, values["currency"])
    listen = server(values.get("server", {}), source, findings)
    observing = telemetry(values.get("telemetry", {}), folder, source, findings)
    at = ("telemetry" if "listen" in values.get("telemetry", {}) else "server", "listen")
    check_listen(observing, listen.listen, at, source, findings)
    return model.Config(
        source=source,
        folder=folder,
        server=listen,
        specs={n: spec(n, v) for n, v in values.get("specs", {}).items()},
        upstreams={n: upstreams.build(n, v) for n, v in values.get("upstreams", {}).items()},
        models={n: model_entry(n, v) for n, v in values.get("models", {}).items()},
        policies=policies(values.get("policies", []), ("policies",)),
        routes=tuple(route(v, ("routes", i)) for i, v in enumerate(values.get("routes", [])) if v),
        tokens=tokens.callers(values.get("tokens", [])),
        broken=broken,
        stores=stores(values.get("stores", {}), folder, source, findings),
        prices=prices(values.get("prices", {})),
        currency=values["currency"],
        console=model.Console(**values.get("console", {})),
        origins=tuple(values.get("cors", {}).get("origins", ())),
        telemetry=observing,
    )
