"""`modelway config`: print the effective config, with the origin of each value."""

from __future__ import annotations

import json
import os

import click

from engine.cli.config_file import config_option, errors_exit
from engine.cli.output_format import format_option
from engine.config.config_files import ConfigFiles
from engine.config.joined_document import JoinedDocument
from engine.config.load import load_file
from engine.offline.effective_config import EffectiveConfig
from engine.offline.provider_values import with_provider_values
from engine.source.problem import Findings, Path

_OF_PROVIDER = "of the provider, before the transform of this upstream:"


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
