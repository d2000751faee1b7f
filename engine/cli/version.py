"""`modelway version`: print the versions of Modelway and its libraries."""

from __future__ import annotations

import json
import platform
from importlib import metadata

import click

from engine.cli.output import format_option
from engine.values.installed_plugins import installed_plugins

_PARTS = ("falcon", "gevent", "gunicorn", "jsonschema-rs", "SQLAlchemy", "redis")
"""The dependencies whose versions are printed."""
_EXTRAS = {
    "aws": "botocore",
    "azure": "azure-identity",
    "google": "google-auth",
    "otel": "opentelemetry-proto",
    "tokenizers": "tokenizers",
}
"""The distribution that is installed with each extra of the package."""


@click.command()
@format_option()
def command(output_format: str) -> None:
    """Print the versions of Modelway, Python and its main libraries, and which extras and
    plug-ins are installed."""
    versions = {name: _version(name) for name in _PARTS}
    extras = [extra for extra, name in _EXTRAS.items() if _version(name) is not None]
    report = {
        "version": _version("modelway"),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "libraries": versions,
        "extras": extras,
        "plugins": [
            {
                "distribution": plugin.distribution,
                "version": plugin.version,
                "group": plugin.group,
                "name": plugin.name,
            }
            for plugin in installed_plugins()
        ],
    }
    if output_format == "json":
        click.echo(json.dumps(report, indent=2))
        return
    click.echo(f"modelway {report['version']}")
    click.echo(f"{report['implementation']} {report['python']} on {report['platform']}")
    click.echo(", ".join(f"{name} {version or 'missing'}" for name, version in versions.items()))
    click.echo(f"extras: {', '.join(extras) or 'none'}")
    for plugin in installed_plugins():
        click.echo(f"plug-in: {plugin}")


def _version(name: str) -> str | None:
    """The version of an installed distribution, None if there is none."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
