"""What `modelway version` prints."""

from __future__ import annotations

import json
import platform
import tomllib
from importlib import metadata
from pathlib import Path

from click.testing import CliRunner

from engine.cli import main
from engine.values.installed_plugins import InstalledPlugin

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


def output(*options: str) -> str:
    result = CliRunner().invoke(main, ["version", *options])
    assert result.exit_code == 0
    return result.output


def test_json_has_the_versions_for_scripts() -> None:
    report = json.loads(output("--json"))
    assert report["version"] == metadata.version("modelway")
    assert report["python"] == platform.python_version()
    assert report["libraries"]["gunicorn"] == metadata.version("gunicorn")
    assert report["extras"] == [
        "aws",
        "azure",
        "google",
        "otel",
        "tokenizers",
    ]  # the tests install all


def test_plugins_are_listed(monkeypatch) -> None:
    entry_point = metadata.EntryPoint("night", "acme:POLICY", "modelway.policies")
    plugin = InstalledPlugin(entry_point, "acme", "1.5")
    monkeypatch.setattr("engine.cli.version.installed_plugins", lambda: (plugin,))
    assert output().splitlines()[-1] == "plug-in: the policy 'night' of acme 1.5"
    assert json.loads(output("--json"))["plugins"] == [
        {"distribution": "acme", "version": "1.5", "group": "modelway.policies", "name": "night"}
    ]


def test_text_begins_with_the_version() -> None:
    assert output().splitlines()[0] == f"modelway {metadata.version('modelway')}"


def test_a_library_that_is_not_installed_is_named(monkeypatch) -> None:
    installed = metadata.version

    def without_redis(name: str) -> str:
        if name == "redis":
            raise metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(metadata, "version", without_redis)
    assert "redis missing" in output()
    assert json.loads(output("--json"))["libraries"]["redis"] is None
