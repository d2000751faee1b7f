"""`modelway config`: print the effective config, with the origin of each value."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import click

from engine.cli.config_file import config_option, errors_exit
from engine.cli.output import format_option
from engine.config import provider_defaults, providers
from engine.config.config_files import ConfigFiles
from engine.config.joined_document import JoinedDocument, Origin, joined_document
from engine.config.load import load_file
from engine.offline.effective_config import EffectiveConfig
from engine.source.problem import Findings, Path
from engine.source.reader import SourceDocument
from engine.values.trees import Json, Section, map_leaves

_OF_PROVIDER = "of the provider, before the transform of this upstream:"
_FOLDER = "engine/providers"


@click.command()
@config_option
@click.option("--defaults", is_flag=True, help="Add the settings from the providers of upstreams.")
@format_option(help="text is YAML with comments, json has `config` and `origins`.")
def command(config: ConfigFiles, defaults: bool, output_format: str) -> None:
    """Print the effective config: gateway.yaml with its included files and overlays as one file.

    A comment after each value names its file and line. `${VAR}` is printed as written, and secrets
    are masked. The output is a config: paths in it are relative to the folder of the first file.
    With --defaults it includes the settings from the provider of each upstream. The transform of a
    provider, which applies before that of the upstream, is printed as comments.

    \b
      modelway config -c gateway.yaml -c prod.yaml
      modelway config --defaults
      modelway config -c gateway.yaml -c prod.yaml --json | jq '.origins["/server/listen"]'

    \b
    Exit status: 0 no errors, 1 errors in these files (printed on standard error; unset variables
    are not errors here), 2 wrong usage.
    """
    findings = Findings()
    _, document = load_file(config.main, os.environ, findings, config.overlays)
    errors = [problem for problem in findings.errors if problem.code != "MW005"]
    if not isinstance(document.value, dict):
        errors_exit(errors, findings.texts, "nothing is printed")
    transforms: dict[Path, JoinedDocument] = {}
    if defaults:
        document, transforms = with_provider_values(document)
    of_providers = {at: EffectiveConfig(transform) for at, transform in transforms.items()}
    comments = {at: [_OF_PROVIDER, *part.yaml().splitlines()] for at, part in of_providers.items()}
    effective = EffectiveConfig(document, comments)
    if output_format == "json":
        value = effective.json()
        if defaults:
            value["providers"] = {str(at[-1]): part.json() for at, part in of_providers.items()}
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))
    else:
        click.echo(f"# The effective config of {config}")
        click.echo(effective.yaml(), nl=False)
    if errors:
        errors_exit(errors, findings.texts)


def with_provider_values(
    document: SourceDocument,
) -> tuple[JoinedDocument, dict[Path, JoinedDocument]]:
    """The config with the values of providers in its upstreams, each with its place in the
    provider's file. The transform of a provider applies before that of the entry, so it is not
    merged: the second value has it by the path of the entry, as `{transform: ...}`."""
    joined_config = document if isinstance(document, JoinedDocument) else joined_document(document)
    transforms: dict[Path, JoinedDocument] = {}
    upstreams = joined_config.value.get("upstreams")
    if not isinstance(upstreams, dict):
        return joined_config, transforms
    origin = joined_config.origin.entry("upstreams")
    completed = dict(upstreams)
    for name, entry in upstreams.items():
        provider = entry.get("provider") if isinstance(entry, dict) else None
        if provider not in providers.names():
            continue
        layer = _redacted(provider_defaults.layer(providers.read(provider), entry), joined_config)
        file = providers.document(provider)
        source = SourceDocument(f"{_FOLDER}/{provider}.yaml", file.text, file.value)
        provider_origin = Origin(source, ("upstream",))
        if transform := layer.pop("transform", None):
            transforms["upstreams", name] = JoinedDocument(
                file=source.file,
                text=source.text,
                value={"transform": transform},
                origin=provider_origin,
                files=[source],
            )
        completed[name] = _merged(entry, layer, origin.entry(name), provider_origin)
    joined_config.value = {**joined_config.value, "upstreams": completed}
    return joined_config, transforms


def _merged(
    above: Section, below: Mapping[str, object], origin: Origin, below_origin: Origin
) -> Json:
    """The mapping `above` with the keys of `below` that it lacks; their places are added to
    `origin`."""
    result = dict(above)
    for key, value in below.items():
        if key not in above:
            result[key] = value
            origin.children[key] = below_origin.child(key)
        elif isinstance(value, dict) and isinstance(above[key], dict):
            result[key] = _merged(above[key], value, origin.entry(key), below_origin.child(key))
    return result


def _redacted(value: object, document: SourceDocument) -> Any:
    """A provider's value with `${...}` in place of the values of the variables."""
    redact = document.redact
    return map_leaves(value, lambda _, leaf: redact(leaf) if isinstance(leaf, str) else leaf)
