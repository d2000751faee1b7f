"""gateway.yaml of a few lines as a Config, or as the places of its errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.config.config import Config
from engine.config.load import load
from engine.source.problem import Findings

SPECS = "specs: {shop: {document: shop.yaml}}\n"
ROUTES = "routes: [{operation: shop.x, answer: models}]\n"


def read_config(
    text: str,
    environ: Mapping[str, str] | None = None,
    folder: Path = Path("/folder"),
    *,
    specs: str = SPECS,
    routes: str = ROUTES,
) -> Config:
    """The config with `text` behind a version, specs and routes: from line 4 on. It is valid."""
    config, findings = _load(text, environ, folder, specs, routes)
    assert findings.problems == []
    assert config is not None
    return config


def read_errors(text: str, environ: Mapping[str, str] | None = None) -> list[tuple[int, int, str]]:
    """Line, column and code of the errors of such a config."""
    _, findings = _load(text, environ, Path("/folder"), SPECS, ROUTES)
    return [(error.line, error.column, error.code) for error in findings.errors]


def _load(
    text: str, environ: Mapping[str, str] | None, folder: Path, specs: str, routes: str
) -> tuple[Config | None, Findings]:
    findings = Findings()
    config_text = f"version: 1\n{specs}{routes}{text}"
    config, _ = load(config_text, "gateway.yaml", folder, environ or {}, findings)
    return config, findings
