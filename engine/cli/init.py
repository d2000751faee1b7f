"""`modelway init`: write a starter project."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import click

from engine.config import providers
from engine.config.providers import Provider
from engine.config.starter_config import starter
from engine.source import files
from engine.source.suggestion import did_you_mean


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--provider",
    "names",
    multiple=True,
    metavar="NAME",
    help="Serve the models of this provider; may be repeated. `modelway providers` lists them.",
)
def command(folder: Path, names: tuple[str, ...]) -> None:
    """Write a starter project to FOLDER: gateway.yaml, objects.yaml, openapi/, schemas/.

    These are the files shipped with this program, ready for `modelway check`. Existing files are
    never overwritten. With --provider, gateway.yaml serves the models of that provider; with
    several, each serves its models under its own name: groq/*.
    """
    for name in names:
        if name not in providers.names():
            hint = did_you_mean(name, providers.names(), "`modelway providers` lists them")
            message = f"unknown provider '{name}'; {hint}"
            raise click.BadParameter(message, param_hint="--provider")
    chosen_providers = [providers.read(name) for name in dict.fromkeys(names)]
    config = starter(chosen_providers) if chosen_providers else files.CONFIG.read_text("utf-8")
    try:
        write_project(folder, config)
    except OSError as error:
        raise unwritable(error, folder) from error
    click.echo(
        f"Wrote {folder}: gateway.yaml, objects.yaml, openapi/, schemas/\n\n"
        f"{next_steps(folder, _variables(chosen_providers), with_token=True)}"
    )


def unwritable(error: OSError, path: Path) -> click.ClickException:
    """The error of a file, by default `path`, that cannot be written."""
    return click.ClickException(f"{error.filename or path} cannot be written: {error.strerror}")


def next_steps(folder: Path, variables: Sequence[str], *, with_token: bool) -> str:
    """The commands that serve a new project, one in each line, ready to be typed. `with_token`: it
    has no token yet, without which nothing can be called."""
    steps = [] if folder.resolve() == Path.cwd() else [f"cd {shlex.quote(str(folder))}"]
    if with_token:
        steps.append(
            "modelway token new alice     # a token for a caller; put the entry under tokens:"
        )
    steps += [f"export {name}=...    # see upstreams:" for name in variables]
    return "\n".join(f"  {step}" for step in (*steps, "modelway check", "modelway serve"))


def _variables(catalog: Sequence[Provider]) -> list[str]:
    """The environment variables of the credentials of providers, by default of the shipped
    config."""
    credentials = [p.credential for p in catalog if p.credential is not None]
    names = [str(c[key]) for c in credentials for key in ("bearer", "value") if key in c]
    return names if catalog else ["OPENAI_API_KEY"]


def write_project(folder: Path, config: str) -> None:
    """Write gateway.yaml, the shipped documents and schemas. Raises OSError, and ClickException if
    one of them already exists in the folder."""
    names = ("gateway.yaml", "objects.yaml", "openapi", "schemas")
    existing = [name for name in names if (folder / name).exists()]
    if existing:
        raise click.ClickException(f"{folder / existing[0]} already exists; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gateway.yaml").write_text(config, "utf-8")
    shutil.copyfile(files.HOME / "objects.yaml", folder / "objects.yaml")
    for source, pattern in ((files.DOCUMENTS, "*.yaml"), (files.SCHEMA.parent, "*.json")):
        target = folder / source.name
        target.mkdir()
        for file in sorted(source.glob(pattern)):
            shutil.copyfile(file, target / file.name)
