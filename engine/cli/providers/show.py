"""`modelway providers show`: list the known providers, or show one with its models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click
from msgspec import to_builtins

from engine.cli.output import format_option
from engine.cli.providers.catalog_text import catalog_entry, catalog_text
from engine.cli.text_table import Table, print_table
from engine.config import providers
from engine.config.provider_defaults import credential_text
from engine.config.providers import Provider, ProviderModel
from engine.config.starter_config import entry_lines
from engine.source.suggestion import did_you_mean

Document = dict[str, Any]

_HEADINGS = ("PROVIDER", "TITLE", "DIALECT", "CREDENTIAL", "MODELS", "DATE")
_MODEL_HEADINGS = ("MODEL", "FOR", "CONTEXT", "OUTPUT", "READS", "CAN", "PRICE IN / OUT")

_NUMBERS = frozenset({"CONTEXT", "OUTPUT", "PRICE IN / OUT", "MODELS"})

_MARKDOWN = """# Providers

Written by `modelway providers show --format markdown` from the files in `engine/providers/`; do not
edit it here. `modelway providers NAME` shows one with its models, limits and prices, and the
sources of these facts with their dates.

| provider | | address | models |
|---|---|---|---|
"""


_CHOICES = """
What callers could choose besides the model, which is checked or refused unless `caller_choices` of
the upstream permits it (see [models](models.md#what-callers-choose-besides-the-model)):

| provider | members, and names of models |
|---|---|
"""


@click.command()
@click.argument("name", required=False)
@format_option(
    ("text", "json", "catalog", "markdown"),
    "text for people, json for programs; catalog is a file for `providers.catalog` of the config "
    "with all models and prices; markdown is the list of the manual.",
)
def command(name: str | None, output_format: str) -> None:
    """List the providers that an upstream can name, or show one with its models.

    \b
    Its lines for gateway.yaml, models and prices:  modelway providers groq
    A project that uses it:                         modelway init --provider groq my-gateway
    For a gateway of an older release:  modelway providers show --format catalog > new.yaml
    """
    if name is not None and name not in providers.names():
        hint = did_you_mean(name, providers.names(), "`modelway providers` lists them")
        raise click.BadParameter(f"unknown provider '{name}'; {hint}", param_hint="NAME")
    names = providers.names() if name is None else [name]
    catalog = [providers.read(provider) for provider in names]
    if output_format == "json":
        documents = [_document(provider) for provider in catalog]
        value = documents[0] if name else documents
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))
    elif output_format == "catalog":
        click.echo(catalog_text({entry.name: catalog_entry(entry.name) for entry in catalog}))
    elif output_format == "markdown":
        click.echo(markdown(catalog), nl=False)
    elif name is None:
        _print_table(_HEADINGS, map(_row, catalog))
    else:
        _print_one(catalog[0])


def markdown(catalog: Sequence[Provider]) -> str:
    """The list of providers in the manual."""
    rows = (f"| `{p.name}` | {p.title} | `{p.upstream['url']}` | {_link(p)} |\n" for p in catalog)
    choices = (
        f"| `{p.name}` | {', '.join(f'`{c.name}` ({c.chooses})' for c in p.choices)} |\n"
        for p in catalog
        if p.choices
    )
    return f"{_MARKDOWN}{''.join(rows)}{_CHOICES}{''.join(choices)}"


def _link(provider: Provider) -> str:
    models = [model for model in provider.models.values() if not model.deprecated]
    if provider.own_names:
        return f"[your own]({provider.documentation})"
    return f"[{len(models)}]({provider.documentation}), {provider.date}"


def _document(provider: Provider) -> Document:
    return {
        **to_builtins(provider),
        "lines": entry_lines(provider),
    }


def _row(provider: Provider) -> tuple[str, ...]:
    return (
        provider.name,
        provider.title,
        provider.upstream.get("dialect", "-"),
        "none" if provider.credential is None else credential_text(provider.credential),
        "your own" if provider.own_names else str(len(provider.models)),
        provider.date.isoformat(),
    )


def _print_one(provider: Provider) -> None:
    click.echo(f"{provider.title}: {provider.upstream['url']}\n{provider.documentation}\n")
    click.echo("upstreams:")
    for line in entry_lines(provider):
        click.echo(f"  {line}")
    click.echo()
    for name, variable in provider.variables.items():
        default = f" (default {variable.default})" if variable.default else ""
        click.echo(f"variable {name}: {variable.description}{default}")
    for credential in provider.other_credentials:
        click.echo(f"also: credential: {credential_text(credential)}")
    for choice in provider.choices:
        sentence = f"callers could choose: {choice.name} ({choice.chooses})"
        click.echo(f"{sentence}, {choice.url}, {choice.date}")
    for note in provider.notes:
        click.echo(f"note: {note}")
    for source in provider.sources:
        click.echo(f"source of {source.of}: {source.url}, {source.date}")
    for fact in provider.unverified:
        click.echo(f"not verified: {fact}")
    if provider.models:
        click.echo(f"\nPrices in {provider.currency} per million tokens, of {provider.date}.")
        _print_table(_MODEL_HEADINGS, map(_model_row, provider.models.values()))


def _model_row(model: ProviderModel) -> tuple[str, ...]:
    price = model.price or {}
    return (
        f"{model.name}{' (deprecated)' if model.deprecated else ''}",
        ", ".join(model.tasks),
        f"{model.context:,}" if model.context else "-",
        f"{model.output:,}" if model.output else "-",
        ", ".join(model.input),
        ", ".join(model.capabilities) or "-",
        f"{price.get('input', 0):g} / {price.get('output', 0):g}" if price else "-",
    )


def _print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    print_table(Table(headings, [*rows], _NUMBERS))
