"""Read gateway.yaml into a Config: its YAML, shape and values. `plan/` resolves the names in it.

The text becomes a SourceDocument (its value and a source map). Its valid entries, with units
converted, become the Config.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path as FilePath

import orjson
from msgspec.structs import replace

from engine import credentials
from engine.config import duration_bounds, keys, schema_check
from engine.config.callers import JwtIssuer, JwtReader
from engine.config.catalog_updates import read_catalog
from engine.config.client_secrets import read_client_secrets
from engine.config.config import Config, InvalidEntries
from engine.config.console import read_console
from engine.config.include import join_includes
from engine.config.joined_document import TAGS, JoinedDocument, joined_document
from engine.config.literal_secrets import add_masked
from engine.config.mcp import read_mcp
from engine.config.models import TargetReader, read_model
from engine.config.objects import read_objects
from engine.config.overlays import apply_overlays, refuse_tags
from engine.config.prices import read_team_prices
from engine.config.references import expander
from engine.config.routes import read_policies, read_route
from engine.config.server import Server, read_server
from engine.config.specs import read_spec
from engine.config.stores import read_stores
from engine.config.tags import check_tags, read_tags
from engine.config.teams import TeamReader, Teams
from engine.config.telemetry import Telemetry, check_listen, read_telemetry
from engine.config.tokens import TokenReader
from engine.config.transforms import LiteralReferences
from engine.config.upstream_reader import UpstreamReader
from engine.config.upstreams import UpstreamConfig
from engine.config.webhooks import read_webhook
from engine.source.problem import Findings, Path, place_of
from engine.source.reader import SourceDocument, read, read_file
from engine.values.caller import Caller
from engine.values.price import CONFIG, price_of
from engine.values.trees import Json

_NAMED_SECTIONS = ("specs", "upstreams", "models", "teams")


def load(
    text: str,
    file: str,
    folder: FilePath,
    environ: Mapping[str, str],
    findings: Findings,
    overlays: Sequence[FilePath] = (),
) -> tuple[Config | None, SourceDocument]:
    """Read a config, its included files and its overlays. The Config is None if the text cannot be
    read.

    Entries that breach the schema are left out, so that the others can be checked; `findings` then
    has errors, and the config must not be served.
    """
    document = read(text, file, expander(environ, folder), TAGS)
    return _load(document, folder, environ, findings, overlays)


NO_CONFIG = "name the config with -c; `modelway init FOLDER` writes a new project"
"""The hint for a config that does not exist."""


def load_file(
    file: FilePath,
    environ: Mapping[str, str],
    findings: Findings,
    overlays: Sequence[FilePath] = (),
) -> tuple[Config | None, SourceDocument]:
    """Read a config from its file, as `load` does."""
    folder = file.absolute().parent
    document = read_file(file, str(file), expander(environ, folder), TAGS, NO_CONFIG)
    return _load(document, folder, environ, findings, overlays)


def _load(
    document: SourceDocument,
    folder: FilePath,
    environ: Mapping[str, str],
    findings: Findings,
    overlays: Sequence[FilePath],
) -> tuple[Config | None, SourceDocument]:
    schema_check.reject_invalid(credentials.KINDS, attrgetter("schema"))
    document, complete = _join(document, folder, environ, findings, overlays)
    if document.value is None:
        return None, document
    breaches = _check_schema(document, findings)
    if not isinstance(document.value, dict):
        return None, document
    sections, invalid = _without_breaches(document.value, breaches)
    if not complete:
        all_names = dict.fromkeys(_NAMED_SECTIONS, frozenset("*"))
        invalid = InvalidEntries({**invalid.names, **all_names})
    encoded = _as_json(document.value)
    if _may_have(encoded, b'"transform":'):
        sections = LiteralReferences(document, folder, environ).escape(sections)
    config = _config(_convert(sections), invalid, document, folder, findings)
    if _may_have(encoded, rb"\u0000"):
        _check_text(document.value, (), document, findings)
    return replace(config, overlays=tuple(overlays)), document


def _join(
    document: SourceDocument,
    folder: FilePath,
    environ: Mapping[str, str],
    findings: Findings,
    overlays: Sequence[FilePath],
) -> tuple[SourceDocument, bool]:
    """A file with its included files, changed by overlays; False if one could not be read."""
    add_masked(document, findings)
    if document.value is None and not document.problems:
        findings.error(document, (), "MW102", "the file is empty", "start with `modelway init DIR`")
    complete = True
    if isinstance(document.value, dict) and "include" in document.value:
        document, complete = join_includes(document, folder, environ, findings)
    base = document if isinstance(document, JoinedDocument) else joined_document(document)
    refuse_tags(base, findings)
    if not overlays or not isinstance(base.value, dict):
        return document, complete
    return base, apply_overlays(base, overlays, folder, environ, findings) and complete


def _check_schema(document: SourceDocument, findings: Findings) -> list[Path]:
    """Note breaches of the schema and of bounds, except for values that could not be read.

    Returns the paths of all breaches.
    """
    schema_findings = Findings()
    breaches = schema_check.check(
        document.value, schema_check.gateway_validator(), document, (), schema_findings
    )
    failed = {(problem.file, problem.line, problem.column) for problem in document.problems}
    findings.unsorted.extend(
        p for p in schema_findings.unsorted if (p.file, p.line, p.column) not in failed
    )
    return breaches + duration_bounds.check(document.value, document, findings)


def _as_json(value: object) -> bytes | None:
    """A value as JSON, for `_may_have`; None for one that orjson refuses, as integers above 64
    bits."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return None


def _may_have(encoded: bytes | None, part: bytes) -> bool:
    """Whether a value may have a part, by its JSON: this takes a tenth of the time of a walk."""
    return encoded is None or part in encoded


def _check_text(value: object, at: Path, document: SourceDocument, findings: Findings) -> None:
    """Note strings with a NUL character, which no file name, header or address can have, unless
    they already have a problem."""
    if isinstance(value, str) and "\0" in value:
        place = place_of(document, at)
        if not any((p.file, p.line, p.column) == place for p in findings.unsorted):
            message = "the character U+0000 is not allowed"
            findings.error(document, at, "MW104", message, "remove it")
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            _check_text(entry, (*at, index), document, findings)
    elif isinstance(value, dict):
        for key, entry in value.items():
            _check_text(key, (*at, key), document, findings)
            _check_text(entry, (*at, key), document, findings)


def _without_breaches(value: Json, breaches: list[Path]) -> tuple[Json, InvalidEntries]:
    """The valid entries, and the names of the invalid ones."""
    sections = {name: section for name, section in value.items() if section is not None}
    invalid: dict[str, set[str]] = {}
    for path in breaches:
        section = str(path[0]) if path else ""
        if section not in sections:
            continue
        if len(path) < 2 or not isinstance(sections[section], dict | list) or section == "server":
            del sections[section]
            invalid.setdefault(section, set()).add("*")
        elif isinstance(sections[section], list):
            sections[section] = [
                None if i == path[1] else e for i, e in enumerate(sections[section])
            ]
            invalid.setdefault(section, set())
        else:
            sections[section] = {k: v for k, v in sections[section].items() if k != path[1]}
            invalid.setdefault(section, set()).add(str(path[1]))
    frozen_names = {section: frozenset(names) for section, names in invalid.items()}
    return sections, InvalidEntries(frozen_names)


def _convert(sections: Json) -> Json:
    """The sections with durations and sizes as numbers; requests under `tests` stay unchanged."""
    key = keys.root()
    return {n: v if n == "tests" else keys.convert(v, key.child(n)) for n, v in sections.items()}


def _config(
    sections: Json,
    invalid: InvalidEntries,
    source: SourceDocument,
    folder: FilePath,
    findings: Findings,
) -> Config:
    values = keys.fill(sections, "")
    upstreams, invalid = _upstreams(values, invalid, UpstreamReader(source, folder, findings))
    targets, routes = TargetReader(), values.get("routes", [])
    tokens, teams, issuers = _callers(values, invalid, folder, source, findings)
    has_records = "records" in values.get("stores", {})
    server = read_server(values.get("server", {}), source, findings)
    return Config(
        source=source,
        folder=folder,
        server=server,
        specs={n: read_spec(n, v) for n, v in values.get("specs", {}).items()},
        upstreams=upstreams,
        models={n: read_model(n, v, targets, folder) for n, v in values.get("models", {}).items()},
        policies=read_policies(values.get("policies", []), ("policies",)),
        routes=tuple(read_route(v, ("routes", i), targets) for i, v in enumerate(routes) if v),
        tokens=tokens,
        teams=teams,
        jwt=issuers,
        invalid=invalid,
        stores=read_stores(values.get("stores", {}), folder, source, findings),
        prices={n: price_of(v, CONFIG) for n, v in values.get("prices", {}).items()},
        team_prices=read_team_prices(values.get("teams", {}), source, findings),
        currency=values["currency"],
        console=read_console(values.get("console", {})),
        origins=tuple(values.get("cors", {}).get("origins", ())),
        telemetry=_telemetry(values, server, folder, source, findings),
        objects=read_objects(values.get("objects", {}), has_records, source, findings),
        mcp={n: read_mcp(n, v) for n, v in values.get("mcp", {}).items()},
        client_secrets=read_client_secrets(values.get("client_secrets", {}), source, findings),
        tags=read_tags(values.get("tags", {}), source, findings),
        catalog=read_catalog(values.get("providers", {}), folder, source, findings),
        webhooks={n: read_webhook(n, v) for n, v in values.get("webhooks", {}).items()},
    )


def _callers(
    values: Json,
    invalid: InvalidEntries,
    folder: FilePath,
    source: SourceDocument,
    findings: Findings,
) -> tuple[dict[str, Caller], Teams, tuple[JwtIssuer, ...]]:
    """The callers of tokens by their digest, as members of their teams; the teams; and the issuers
    of other tokens."""
    tokens = TokenReader(source, findings, values["currency"])
    callers = tokens.callers(values.get("tokens", []))
    jwt = JwtReader(folder, source, findings, tokens)
    issuers = jwt.issuers(values.get("callers", {}).get("jwt", []))
    jwt.check_names(issuers, callers)
    team_reader = TeamReader(source, findings, tokens, invalid.names.get("teams", ()))
    teams = team_reader.teams(values.get("teams", {}))
    return {digest: teams.member(caller) for digest, caller in callers.items()}, teams, issuers


def _upstreams(
    values: Json, invalid: InvalidEntries, reader: UpstreamReader
) -> tuple[dict[str, UpstreamConfig], InvalidEntries]:
    """The upstreams, and the invalid entries with those that cannot be read."""
    entries = {n: reader.read(n, v) for n, v in values.get("upstreams", {}).items()}
    upstreams = {n: upstream for n, upstream in entries.items() if upstream is not None}
    if len(upstreams) < len(entries):
        invalid = invalid.with_names("upstreams", entries.keys() - upstreams.keys())
    return upstreams, invalid


def _telemetry(
    values: Json, server: Server, folder: FilePath, source: SourceDocument, findings: Findings
) -> Telemetry:
    section = values.get("telemetry", {})
    telemetry = read_telemetry(section, folder, source, findings)
    at = ("telemetry" if "listen" in section else "server", "listen")
    check_listen(telemetry, server.listen, at, source, findings)
    check_tags(telemetry.tags, ("telemetry", "tags"), values.get("tags", {}), source, findings)
    return telemetry
