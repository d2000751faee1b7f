"""Reading the documents of a config, and compiling their operations for the options of routes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path as FilePath

from engine import dialects
from engine.config.config import Config
from engine.config.specs import Spec
from engine.plan.assembly.assign_operations import Claim
from engine.source.failure_place import reading
from engine.source.files import DOCUMENTS, is_file, names_in
from engine.source.problem import Findings, Level, Place
from engine.source.suggestion import did_you_mean
from engine.spec.bodies.response_schemas import ResponseValidators
from engine.spec.operation import Operation
from engine.spec.schemas.json_schema_files import Purpose
from engine.spec.spec import Specification, read

_SUFFIXES = (".yaml", ".yml", ".json")


def read_all(
    config: Config, findings: Findings, cache: FilePath | None = None
) -> dict[str, Specification]:
    """Every document that can be read, by its name in the config.

    `cache` is the folder for the cache of large documents.
    """
    specifications: dict[str, Specification] = {}
    for name, spec in config.specs.items():
        file = config.folder / spec.document
        if not is_file(file):
            at = (*spec.at, "document")
            message = f"there is no file '{spec.document}'"
            hint = _near_file(spec.document, file)
            if file.is_dir():
                message, hint = f"'{spec.document}' is a folder", _file_in(spec.document, file)
            findings.error(config.source, at, "MW106", message, hint)
            continue
        display_name = str(FilePath(config.source.file).parent / spec.document)
        overlays = _overlays(spec, config, findings)
        has_dialect = spec.dialect in dialects.names()
        with reading(partial(Place, display_name, 0, 0)):
            specification = read(
                *(name, file, display_name, spec.mount, findings, overlays, cache),
                dialects.get(spec.dialect).json_name if has_dialect else None,
            )
        if specification is not None:
            specifications[name] = specification
    return specifications


def compile_for_route(
    claim: Claim,
    config: Config,
    specifications: Mapping[str, Specification],
    findings: Findings,
) -> Operation:
    """The operation, compiled for the options `validate`, `unknown_fields` and `readonly` of its
    route."""
    operation, route = claim.operation, claim.route
    lenient, with_names = route.validate == "lenient", route.unknown_fields != "pass"
    with_read_only = route.readonly != "accept"
    if not (lenient or with_names or with_read_only):
        return operation
    specification = specifications[operation.spec]
    before = len(specification.left_out(Purpose.LENIENT))
    recompiled = specification.recompile(
        operation, lenient=lenient, with_names=with_names, with_read_only=with_read_only
    )
    for broken in specification.left_out(Purpose.LENIENT)[before:]:
        message = f"{operation.id}: '{broken.path[-1]}' is left out of its lenient schema"
        hint = f"{broken.reason}; refer to schemas under components.schemas"
        findings.note(config.source, route.at, Level.WARNING, "MW309", message, hint)
    return recompiled


def response_validators(
    claim: Claim, specifications: Mapping[str, Specification], findings: Findings
) -> ResponseValidators | None:
    """The response validators of the operation, if its route reports on responses."""
    operation, specification = claim.operation, specifications[claim.operation.spec]
    if claim.route.validate_responses != "report":
        return None
    source, at = operation.source, operation.at
    before = len(specification.left_out(Purpose.RESPONSE))
    try:
        validators = specification.response_validators(operation)
    except ValueError as error:
        message = f"responses of {operation.id} are not checked: {error}"
        findings.note(source, at, Level.WARNING, "MW233", message, key=True)
        return None
    for broken in specification.left_out(Purpose.RESPONSE)[before:]:
        message = f"responses of {operation.id} are checked without '{broken.path[-1]}'"
        findings.note(source, at, Level.WARNING, "MW233", message, broken.reason, key=True)
    return validators


def _overlays(spec: Spec, config: Config, findings: Findings) -> list[tuple[FilePath, str]]:
    """The existing overlay files of a document, with their names for messages."""
    overlays = []
    for index, overlay in enumerate(spec.overlays):
        file = config.folder / overlay
        if is_file(file):
            overlays.append((file, str(FilePath(config.source.file).parent / overlay)))
        else:
            at = (*spec.at, "overlays", index)
            message = f"there is no file '{overlay}'"
            findings.error(config.source, at, "MW106", message, _near_file(overlay, file))
    return overlays


def _file_in(path: str, folder: FilePath) -> str:
    """The hint for a folder in place of a file in it."""
    names = sorted(name for name in names_in(folder) if FilePath(name).suffix in _SUFFIXES)
    return f"write {FilePath(path, names[0])}" if len(names) == 1 else "name a file in it"


def _near_file(path: str, file: FilePath) -> str:
    """The hint for a file that does not exist: `path` is that in the config."""
    if "://" in path:
        return "download it: a document is a file, and nothing is fetched"
    names = {str(FilePath(path).parent / name): name for name in names_in(file.parent)}
    otherwise = "the path starts at this file's folder"
    if is_file(DOCUMENTS / file.name):
        otherwise += f"; `modelway init FOLDER` writes the {file.name} that is shipped"
    return did_you_mean(path, names, otherwise)
